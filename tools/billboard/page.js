"use strict";
// Asks once a second what the curator knows, and shows it as text.
const say = (id, text) => {
  const at = document.getElementById(id);
  if (at.textContent !== text) at.textContent = text;
};
const words = {
  away: "has not joined", refuses: "refuses to take part", joined: "is waited for",
  answered: "has answered", left: "has its models",
  "too late": "came too late: the run has begun without it"
};
const takesNoPart = place => place.state === "refuses" || place.state === "too late";

function state(run) {
  if (run.state === "joining") return "Silos join; nothing is charged yet.";
  if (run.state === "over") return `The run is over: ${run.published} rounds were published.`;
  if (run.state === "rounds")
    return `Round ${run.round} of ${run.rounds} is asked for; ${run.published} were published.`;
  return "The run was ended early.";
}

function spent(run) {
  const p = run.promise;
  if (!p.private) return "This run is not private: no ε holds for it.";
  const beside = `δ = ${p.delta}, adjacency ${p.adjacency}, sampling ${p.sampling}, ` +
    `${p.tasks} tasks`;
  return run.charged ? `ε = ${run.epsilon_spent} at ${beside}: the whole plan.` :
    `ε = 0. The plan costs ε = ${p.epsilon} at ${beside}, charged once all have joined.`;
}

function row(silo, joining) {
  const line = document.createElement("tr");
  const name = line.appendChild(document.createElement("th"));
  const state = line.appendChild(document.createElement("td"));
  name.scope = "row";
  name.textContent = silo.name;
  state.textContent = joining && silo.state === "joined" ? "has joined" : words[silo.state];
  state.className = silo.state;
  if (silo.reached || silo.state === "left" || takesNoPart(silo)) return line;
  state.textContent += ", and is not connected";
  if (silo.state !== "away") state.className = "unreached";
  return line;
}

// Who keeps the second of two doors.
function helper(place, joining) {
  const at = document.getElementById("helper");
  at.hidden = !place;
  if (!place) return;
  const word = { ...words, joined: joining ? "has joined" : "takes part", left: "has ended" };
  const lost = !place.reached && place.state !== "left" && !takesNoPart(place);
  say("helper", `The helper, who keeps the second door, ${word[place.state]}` +
    (lost ? ", and is not connected." : "."));
}

function show(now) {
  const run = now.run, here = now.silos.filter(s => s.state !== "away" && !takesNoPart(s));
  say("state", state(run));
  document.getElementById("rounds").max = run.rounds || 1;
  document.getElementById("rounds").value = run.published;
  say("spent", spent(run));
  say("count", `${here.length} of ${now.silos.length} have joined.`);
  document.getElementById("silos").replaceChildren(
    ...now.silos.map(s => row(s, run.state === "joining")));
  helper(now.helper, run.state === "joining");
  say("error", now.error ? `${now.error_time}: ${now.error} (${now.errors} in all)` : "none");
}

async function ask() {
  try {
    const answer = await fetch("status.json", { cache: "no-store" });
    if (answer.ok) show(await answer.json());
    document.getElementById("lost").hidden = true;
  } catch {
    document.getElementById("lost").hidden = false;
  }
  setTimeout(ask, 1000);
}

ask();
