// Charts answer: to a pointer and to arrow keys with the numbers of a point, to their legend with
// lines that are there or not, and where points are many with a part of them in full width.
// The page says the same without this. The pictures stay as they are: what is drawn
// over them is there on a screen only. Needs d3 (array, quadtree, selection).
(() => {
  const numbers = (text) => text.trim().split(/\s+/).map(Number);
  const short = (value) => String(+value.toPrecision(5));
  const clamp = (value, least, most) => Math.max(least, Math.min(most, value));
  const by = d3.bisector((point) => point.x).left;

  // -- what a picture says of itself (plot.h) --

  // An axis: pixels `from` to `end` are its numbers `least` to `most`.
  const axisOf = (svg, name) => {
    const node = svg.querySelector(`g.${name}[data-range]`);
    if (!node) return null;
    const [from, end, least, most] = numbers(node.dataset.range);
    const share = "log" in node.dataset
      ? (value) => Math.max(0, Math.log(value / least) / Math.log(most / least))
      : (value) => (value - least) / (most - least);
    return {
      whole: "whole" in node.dataset, title: svg.querySelector(`text.${name}`).textContent,
      range: from < end ? [from, end] : [end, from],
      pixel: (value) => from + (end - from) * share(value),
      value: (pixel) => least + (most - least) * (pixel - from) / (end - from), // no log has it
    };
  };

  // Marks whose title says "where: value".
  const titled = (node, name) => {
    const titles = [...node.querySelectorAll("title")];
    const points = titles.map((title) => {
      const box = title.parentNode.getBBox(), text = title.textContent, cut = text.lastIndexOf(": ");
      const head = text.slice(name && text.startsWith(`${name}, `) ? name.length + 2 : 0, cut);
      return {
        x: box.x + box.width / 2, y: box.y + box.height / 2,
        say: () => ({ head, rows: [[name ?? "", text.slice(cut + 2)]] }),
      };
    });
    titles.forEach((title) => title.remove()); // a browser shows them, too
    return points;
  };

  // A path with its points, and perhaps their names; what cannot be drawn is a gap.
  const listed = (node, path, name, x, y) => {
    const all = numbers(path.dataset.points), points = [];
    const names = node.querySelector("metadata")?.textContent.split("\n");
    let gap = true;
    for (let k = 0; 2 * k < all.length; k++) {
      const [a, b] = [all[2 * k], all[2 * k + 1]];
      const point = { x: x.pixel(a), y: y.pixel(b), first: gap };
      gap = !Number.isFinite(point.x + point.y);
      if (gap) continue;
      point.say = names
        ? () => ({ head: names[k], rows: [[x.title, short(a)], [y.title, short(b)]] })
        : () => ({ head: `${x.title} ${a}`, rows: [[name ?? y.title, short(b)]] });
      points.push(point);
    }
    return points;
  };

  // The strip: the tasks of the page's table, those that lose most first.
  const tasks = (x, y) => {
    const rows = JSON.parse(document.getElementById("rows").textContent);
    return rows.map((row, k) => {
      const gain = row[row.length - 1];
      return {
        x: x.pixel((k + 0.5) / rows.length), y: clamp(y.pixel(gain), ...y.range), loses: gain < 0,
        say: () => ({ head: row[0], rows: [[y.title, short(gain)], ["task", `${k + 1} of ${rows.length}`]] }),
      };
    });
  };

  const read = (svg) => {
    const x = axisOf(svg, "x"), y = axisOf(svg, "y"), { width, height } = svg.viewBox.baseVal;
    const box = { x: x?.range ?? [0, width], y: y?.range ?? [0, height] };
    const series = [...svg.querySelectorAll("g.series")].map((node) => {
      const { name } = node.dataset, path = node.querySelector("[data-points]");
      const points = path ? listed(node, path, name, x, y)
        : node.querySelector(".area") ? tasks(x, y) : titled(node, name);
      return { node, name, shown: true, points: points.sort((a, b) => a.x - b.x) };
    }).filter((one) => one.points.length);
    return {
      svg, x, y, box, view: box, series,
      parts: Boolean(svg.querySelector("[data-points], .area")), // can be looked at in parts
      plane: Boolean(svg.querySelector(".dots")), // of which both axes have some
    };
  };

  // -- where a point is, in the part that is looked at --

  const pixel = (chart, name, point) => {
    const [from, end] = chart.box[name], [a, b] = chart.view[name];
    return from + (end - from) * (point[name] - a) / (b - a);
  };
  const unpixel = (chart, name, at) => {
    const [from, end] = chart.box[name], [a, b] = chart.view[name];
    return a + (b - a) * (at - from) / (end - from);
  };
  const sees = (chart, point) => ["x", "y"].every((name) =>
    point[name] >= chart.view[name][0] - 1e-6 && point[name] <= chart.view[name][1] + 1e-6);

  // Over an axis of rounds or tasks the nearest point is the nearest in x.
  const nearest = (chart, [x, y]) => {
    const flat = chart.parts && !chart.plane ? 1e-3 : 1;
    if (!chart.tree) {
      const found = chart.series.filter((one) => one.shown).flatMap((one) =>
        one.points.filter((point) => sees(chart, point)).map((point) =>
          ({ one, point, x: pixel(chart, "x", point), y: flat * pixel(chart, "y", point) })));
      chart.tree = d3.quadtree(found, (f) => f.x, (f) => f.y);
    }
    return chart.tree.find(x, flat * y);
  };

  // -- what is shown of it --

  const tip = d3.select(document.body).append("div").attr("id", "tip").attr("role", "status");

  const hide = (chart) => {
    chart.at = null;
    chart.ring.attr("visibility", "hidden");
    tip.text("");
  };

  // The point's own numbers, and those of other lines at the same place.
  const rowsOf = (chart, one, point) => chart.series.flatMap((other) => {
    const same = other === one ? point : other.name && one.name && other.points[by(other.points, point.x)];
    if (!other.shown || !same || same.x !== point.x) return [];
    return same.say().rows.map(([label, value]) =>
      ({ label, value, mark: other.name && other.node, nearest: other === one && one.name }));
  });

  const mark = (to, node) => to.append("svg").attr("viewBox", "0 0 32 10").attr("aria-hidden", "true")
    .append("path").attr("d", "M0 5H32").attr("class", (d) => node(d).querySelector("path").getAttribute("class"));

  // Above the ring or below it, beside it where there is room.
  const place = (ring) => {
    const { offsetWidth, offsetHeight } = tip.style("left", "0").node(); // as wide as it wants to be
    const room = document.documentElement.clientWidth - offsetWidth - 4, above = ring.top - offsetHeight - 4;
    const beside = ring.right + 4 <= room ? ring.right + 4 : ring.left - offsetWidth - 4;
    tip.style("left", `${window.scrollX + clamp(beside, 4, Math.max(4, room))}px`)
      .style("top", `${window.scrollY + (above > 0 ? above : ring.bottom + 4)}px`);
  };

  const show = (chart, one, point) => {
    chart.at = { one, point };
    chart.ring.attr("visibility", "visible")
      .attr("cx", pixel(chart, "x", point)).attr("cy", pixel(chart, "y", point));
    tip.text("").append("strong").text(point.say().head);
    const row = tip.selectAll("div").data(rowsOf(chart, one, point)).join("div")
      .classed("nearest", (r) => r.nearest);
    mark(row.filter((r) => r.mark), (r) => r.mark);
    row.append("span").text((r) => r.label);
    row.append("b").text((r) => r.value);
    place(chart.ring.node().getBoundingClientRect());
  };

  // -- a part in full width --

  const line = (chart, points) => points
    .slice(Math.max(0, by(points, chart.view.x[0]) - 1), by(points, chart.view.x[1]) + 1)
    .map((p, k) => `${p.first || !k ? "M" : "L"}${pixel(chart, "x", p).toFixed(1)} ${pixel(chart, "y", p).toFixed(1)}`)
    .join("");

  const dots = (chart, points) => points.filter((p) => sees(chart, p))
    .map((p) => `M${pixel(chart, "x", p).toFixed(1)} ${pixel(chart, "y", p).toFixed(1)}h0`).join("");

  // As draw_area of charts.c, with more of the tasks.
  const area = (chart, points, loses) => {
    const [a, b] = chart.view.x, half = (chart.box.x[1] - chart.box.x[0]) / points.length / 2;
    const some = points.slice(by(points, a - half), by(points, b + half)).filter((p) => p.loses === loses);
    const edge = (p, side) => pixel(chart, "x", { x: p.x + side * half }).toFixed(1);
    const step = Math.ceil(some.length / 1200), zero = chart.y.pixel(0);
    if (!some.length) return "";
    let path = `M${edge(some[0], -1)} ${zero}`;
    for (let k = 0; k < some.length; k += step)
      path += `V${some[k].y.toFixed(1)}H${edge(some[Math.min(k + step, some.length) - 1], 1)}`;
    return `${path}V${zero}z`;
  };

  // As plot.c draws them.
  const ticks = (chart, name) => {
    const { box } = chart, axis = chart[name], [a, b] = chart.view[name].map(axis.value).sort(d3.ascending);
    const at = d3.ticks(a, b, 6).filter((tick) => !axis.whole || Number.isInteger(tick));
    const far = (tick) => pixel(chart, name, { [name]: axis.pixel(tick) });
    const g = chart.live.select(`g.${name}`);
    g.selectAll("path").data(at).join("path").attr("class", "g").attr("d", name === "x"
      ? (tick) => `M${far(tick)} ${box.y[0]}V${box.y[1]}` : (tick) => `M${box.x[0]} ${far(tick)}H${box.x[1]}`);
    const text = g.selectAll("text").data(at).join("text").text(String);
    if (name === "x") text.attr("x", far).attr("y", box.y[1] + 20);
    else text.attr("x", box.x[0] - 9).attr("y", (tick) => far(tick) + 4.5);
  };

  // The range [a, b], not too short, inside of all.
  const inside = ([a, b], all, least) => {
    const length = clamp(b - a, least, all[1] - all[0]);
    const first = clamp((a + b - length) / 2, all[0], all[1] - length);
    return [first, first + length];
  };

  const look = (chart, x, y) => {
    const { box, plane, series } = chart, wide = box.x[1] - box.x[0], high = box.y[1] - box.y[0];
    const least = plane ? 1 / 200 : Math.min(1, 4 / Math.max(...series.map((one) => one.points.length)));
    chart.view = { x: inside(x, box.x, least * wide), y: plane ? inside(y, box.y, least * high) : box.y };
    const all = chart.view.x[1] - chart.view.x[0] > wide - 1e-6 && chart.view.y[1] - chart.view.y[0] > high - 1e-6;
    if (all) chart.view = box;
    chart.tree = null;
    d3.select(chart.svg).classed("part", !all);
    chart.back.attr("hidden", all ? "" : null);
    ticks(chart, "x");
    if (plane) ticks(chart, "y");
    for (const one of series)
      one.copy.selectAll("path").attr("d", (path) => path.matches(".area")
        ? area(chart, one.points, path.matches(".loss")) : (plane ? dots : line)(chart, one.points));
    if (chart.at && sees(chart, chart.at.point)) show(chart, chart.at.one, chart.at.point);
    else hide(chart);
  };

  // `factor` times as much as now, with what is at the pixels where it is.
  const scale = (chart, factor, at) => look(chart, ...["x", "y"].map((name, k) => {
    const middle = unpixel(chart, name, at[k]);
    return chart.view[name].map((end) => middle + factor * (end - middle));
  }));
  const all = (chart) => look(chart, chart.box.x, chart.box.y);

  // Over the picture, in its place while a part is looked at.
  const copy = (chart, number) => {
    const { svg, box, plane } = chart, clip = `part-${number}`;
    chart.live = d3.select(svg).append("g").attr("class", "live");
    chart.live.append("clipPath").attr("id", clip).append("rect").attr("x", box.x[0]).attr("y", box.y[0] - 2)
      .attr("width", box.x[1] - box.x[0] + 2).attr("height", box.y[1] - box.y[0] + 4);
    chart.live.append("g").attr("class", "x").attr("text-anchor", "middle");
    if (plane) chart.live.append("g").attr("class", "y").attr("text-anchor", "end");
    const g = chart.live.append("g").attr("clip-path", `url(#${clip})`);
    for (const one of chart.series) {
      one.copy = g.append("g").attr("class", "series");
      one.copy.selectAll("path").data([...one.node.querySelectorAll("path")]).join("path")
        .attr("class", (path) => path.getAttribute("class"));
    }
    d3.select(svg).classed("plane", plane);
  };

  const drag = (chart) => {
    const { svg, box, plane } = chart;
    const rect = d3.select(svg).append("rect").attr("class", "select").attr("visibility", "hidden");
    let start = null;
    const range = (name, k, at) => name === "x" || plane
      ? [start[k], clamp(at[k], ...box[name])].sort(d3.ascending) : box[name];
    const over = (at) => ["x", "y"].every((name, k) => at[k] >= box[name][0] && at[k] <= box[name][1]);
    const end = () => {
      const at = d3.clientPoint(svg, d3.event), x = range("x", 0, at), y = range("y", 1, at);
      d3.select(window).on(".part", null);
      rect.attr("visibility", "hidden");
      if (d3.event.type === "pointerup" && Math.min(x[1] - x[0], y[1] - y[0]) > 6)
        look(chart, x.map((a) => unpixel(chart, "x", a)), y.map((a) => unpixel(chart, "y", a)));
    };
    const move = () => {
      const at = d3.clientPoint(svg, d3.event), x = range("x", 0, at), y = range("y", 1, at);
      rect.attr("visibility", "visible").attr("x", x[0]).attr("width", x[1] - x[0])
        .attr("y", y[0]).attr("height", y[1] - y[0]);
    };
    d3.select(svg).on("pointerdown.part", () => {
      const at = d3.clientPoint(svg, d3.event), { pointerType, button } = d3.event;
      if (pointerType !== "mouse" || button !== 0 || !over(at)) return;
      start = at;
      d3.select(window).on("pointermove.part", move).on("pointerup.part pointercancel.part", end);
    }).on("dblclick.part", () => all(chart));
    // A page that is scrolled past a chart goes on: the wheel is for the chart that has the focus.
    svg.addEventListener("wheel", (event) => {
      const at = d3.clientPoint(svg, event), more = event.deltaY < 0;
      if (!over(at) || (!event.ctrlKey && document.activeElement !== svg) || (!more && chart.view === box)) return;
      event.preventDefault();
      scale(chart, 2 ** clamp(event.deltaY / 200, -1, 1), at);
    }, { passive: false });
  };

  // -- keys --

  const go = (chart, one, k) => {
    const point = one?.points[k];
    if (!point) return;
    if (!sees(chart, point))
      look(chart, ...["x", "y"].map((name) => {
        const [a, b] = chart.view[name];
        return [point[name] - (b - a) / 2, point[name] + (b - a) / 2];
      }));
    show(chart, one, point);
  };

  // Along a line; at first to its beginning.
  const along = (chart, count) => {
    if (!chart.at) return go(chart, chart.series.find((one) => one.shown), 0);
    const { one, point } = chart.at;
    return go(chart, one, clamp(one.points.indexOf(point) + count, 0, one.points.length - 1));
  };

  // To another line, near the same x.
  const across = (chart, count) => {
    if (!chart.at) return along(chart, 0);
    const on = chart.series.filter((one) => one.shown), { one, point } = chart.at;
    const next = on[clamp(on.indexOf(one) + count, 0, on.length - 1)];
    return go(chart, next, d3.minIndex(next.points, (p) => Math.abs(p.x - point.x)));
  };

  const press = (chart, key) => {
    const far = Math.ceil((chart.at?.one.points.length ?? 1) / 10);
    const step = { ArrowRight: 1, ArrowLeft: -1, PageDown: far, PageUp: -far, Home: -Infinity, End: Infinity }[key];
    const other = { ArrowDown: 1, ArrowUp: -1 }[key], factor = { "+": 0.5, "=": 0.5, "-": 2 }[key];
    const middle = chart.at?.point ?? { x: d3.mean(chart.view.x), y: d3.mean(chart.view.y) };
    if (step) along(chart, step);
    else if (other) across(chart, other);
    else if (factor && chart.parts) scale(chart, factor, ["x", "y"].map((name) => pixel(chart, name, middle)));
    else if (key === "0" && chart.parts) all(chart);
    else if (key === "Escape") chart.svg.blur();
    else return false;
    return true;
  };

  // -- a chart --

  // Buttons in place of the picture's own legend, which print keeps.
  const legend = (chart, to) => {
    const named = chart.series.filter((one) => one.name), own = chart.svg.querySelector("g.legend");
    if (named.length < 2) return;
    const each = (one, name, is) => [one.node, one.copy?.node()].forEach((g) => g?.classList.toggle(name, is));
    const light = (one) => {
      d3.select(chart.svg).classed("one", Boolean(one?.shown));
      named.forEach((other) => each(other, "lit", other === one));
    };
    const button = to.selectAll("button").data(named).enter().append("button").attr("type", "button")
      .attr("aria-pressed", "true").on("click", function toggle(one) {
        one.shown = !one.shown;
        d3.select(this).attr("aria-pressed", String(one.shown));
        each(one, "off", !one.shown);
        light(one);
        hide(chart);
        chart.tree = null;
      }).on("pointerenter focus", light).on("pointerleave blur", () => light(null));
    mark(button, (one) => one.node);
    button.append("span").text((one) => one.name);
    if (!own) return;
    const { width, height } = chart.svg.viewBox.baseVal;
    d3.select(chart.svg).classed("cut", true).style("--cut", `${-100 * (height - own.getBBox().y) / width}%`);
  };

  const answer = (svg, number) => {
    const chart = read(svg);
    if (!chart.series.length) return;
    const tools = d3.create("div").attr("class", "tools");
    svg.after(tools.node());
    if (chart.parts) copy(chart, number);
    legend(chart, tools);
    if (chart.parts) drag(chart);
    chart.back = tools.append("button").attr("type", "button").attr("class", "back").attr("hidden", "").text("show all")
      .on("click", () => all(chart));
    chart.ring = d3.select(svg).append("circle").attr("class", "ring").attr("r", 8).attr("visibility", "hidden");
    d3.select(svg).attr("tabindex", 0).attr("role", "application").attr("aria-roledescription", "chart")
      .attr("aria-describedby", "answers")
      .on("keydown", () => {
        const { key, ctrlKey, metaKey, altKey } = d3.event;
        if (!ctrlKey && !metaKey && !altKey && press(chart, key)) d3.event.preventDefault();
      })
      .on("pointermove pointerdown", () => {
        const found = nearest(chart, d3.clientPoint(svg, d3.event));
        if (found && found.point !== chart.at?.point) show(chart, found.one, found.point);
      })
      .on("pointerleave", () => { if (d3.event.pointerType !== "touch") hide(chart); })
      .on("blur", () => hide(chart));
  };

  const pictures = [...document.querySelectorAll("figure > svg")];
  pictures.forEach(answer);
  if (pictures.length)
    d3.select("header").append("p").attr("id", "answers").text("In charts, a pointer or the arrow keys "
      + "show numbers (Escape leaves)." + (document.querySelector("svg .live") ? " Over rounds, tasks and "
      + "models, drag across a part, or press + and −, to see it in full width; a double click or 0 "
      + "shows all." : ""));
})();
