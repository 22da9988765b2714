// The table of tasks: sorted by a click on a heading, searched, a page at a time. The page
// says the same without it.
(() => {
  const data = document.getElementById("rows");
  if (!data) return;
  const all = JSON.parse(data.textContent);
  const table = document.getElementById("tasks"), body = table.tBodies[0];
  const find = document.getElementById("find"), where = document.getElementById("where");
  const back = document.getElementById("back"), on = document.getElementById("on");
  const PAGE = 20, names = new Intl.Collator("en", { numeric: true });
  let shown = all, first = 0, column = -1, up = true;

  const compare = (a, b) => {
    if (a === null || b === null) return (a === null) - (b === null);
    const order = typeof a === "string" ? names.compare(a, b) : a - b;
    return up ? order : -order;
  };

  const draw = () => {
    body.textContent = "";
    for (const row of shown.slice(first, first + PAGE)) {
      const line = body.insertRow();
      row.forEach((value, k) => {
        const cell = k ? line.insertCell() : line.appendChild(document.createElement("th"));
        if (!k) cell.scope = "row";
        cell.textContent = value === null ? "–" : k ? +value.toPrecision(4) : value;
      });
    }
    const last = Math.min(first + PAGE, shown.length);
    where.textContent = shown.length ? `${first + 1}–${last} of ${shown.length}` : "none";
    back.disabled = first === 0;
    on.disabled = last >= shown.length;
  };

  const arrange = () => {
    const text = find.value.trim().toLowerCase();
    shown = all.filter((row) => row[0].toLowerCase().includes(text));
    if (column >= 0) shown.sort((a, b) => compare(a[column], b[column]));
    first = 0;
    draw();
  };

  [...table.tHead.rows[0].cells].forEach((heading, k) => {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = heading.textContent;
    heading.textContent = "";
    heading.append(button);
    button.addEventListener("click", () => {
      up = column === k ? !up : true;
      column = k;
      for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
      heading.setAttribute("aria-sort", up ? "ascending" : "descending");
      arrange();
    });
  });
  find.addEventListener("input", arrange);
  back.addEventListener("click", () => { first -= PAGE; draw(); });
  on.addEventListener("click", () => { first += PAGE; draw(); });
  document.getElementById("tools").hidden = false;
  draw();
})();
