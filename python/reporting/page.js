"use strict";
(() => {
  const report = JSON.parse(document.getElementById("data").textContent);
  const table = document.getElementById("values");
  const body = table.tBodies[0];
  const heads = [...table.tHead.rows[0].cells];
  const rows = [...body.rows];
  const form = document.getElementById("filter");
  const SVG = "http://www.w3.org/2000/svg";
  const indexOf = row => Number(row.id.slice(1));

  function element(name, attributes, ...children) {
    const made = document.createElement(name);
    for (const key in attributes) made.setAttribute(key, attributes[key]);
    made.append(...children);
    return made;
  }

  function shape(name, attributes, ...children) {
    const made = document.createElementNS(SVG, name);
    for (const key in attributes) made.setAttribute(key, attributes[key]);
    made.append(...children);
    return made;
  }

  // Sorting: by a cell's number where it has one, else by its text; what has none comes last.
  function sortBy(column) {
    const ascending = heads[column].getAttribute("aria-sort") !== "ascending";
    heads.forEach(head => head.removeAttribute("aria-sort"));
    heads[column].setAttribute("aria-sort", ascending ? "ascending" : "descending");
    const isNumber = column === 0 || heads[column].classList.contains("n");
    const key = row => {
      const cell = row.cells[column];
      if (!isNumber) return cell.textContent;
      const text = column === 0 ? cell.textContent : cell.dataset.v;
      return text === undefined ? NaN : Number(text);
    };
    const keyed = rows.map(row => [key(row), row]);
    keyed.sort(([a, one], [b, other]) => {
      const order = isNumber
        ? Number.isNaN(a) - Number.isNaN(b) || (ascending ? a - b : b - a) || 0
        : (ascending ? 1 : -1) * a.localeCompare(b, "en", { numeric: true });
      return order || indexOf(one) - indexOf(other);
    });
    closeAll();
    body.append(...keyed.map(([, row]) => row));
  }

  function filter() {
    const text = form.elements.text.value.toLowerCase();
    const type = form.elements.element.value;
    const kind = form.elements.kind.value;
    let shown = 0;
    closeAll();
    for (const row of rows) {
      const value = report.values[indexOf(row)];
      row.hidden = Boolean(type && value.element !== type)
        || Boolean(kind && !row.classList.contains(kind))
        || !(row.textContent + " " + value.names.join(" ")).toLowerCase().includes(text);
      shown += !row.hidden;
    }
    document.getElementById("shown").textContent = `${shown} of ${rows.length} values`;
  }

  function closeAll() {
    for (const row of body.querySelectorAll("tr.detail")) row.remove();
    for (const button of body.querySelectorAll("[aria-expanded=true]"))
      button.setAttribute("aria-expanded", "false");
    for (const chosen of document.querySelectorAll("circle.chosen"))
      chosen.classList.remove("chosen");
  }

  function toggle(row) {
    const button = row.querySelector("button");
    const isOpen = button.getAttribute("aria-expanded") === "true";
    closeAll();
    if (isOpen) return;
    button.setAttribute("aria-expanded", "true");
    for (const circle of document.querySelectorAll(`circle[data-i="${indexOf(row)}"]`))
      circle.classList.add("chosen");
    const cell = element("td", { colspan: heads.length }, detail(report.values[indexOf(row)]));
    row.after(element("tr", { class: "detail" }, cell));
  }

  const short = number => number === null ? "–" : Number(number.toPrecision(5)).toString();
  const decibels = (db, kind) => db === null ? kind : `${db.toFixed(1)} dB`;

  function detail(value) {
    const before = value.rounding && value.rounding.before;
    const right = element("div", {}, facts(value), candidates(value),
      blocks(value));
    const left = element("div", {}, element("p", {}, value.names.join(" = ")),
      histogram(value, before));
    return element("div", { class: "inner" }, left, right);
  }

  function facts(value) {
    const rounding = value.rounding;
    const lines = [
      ["elements", String(value.count)],
      ["amax, smallest, mean", [value.amax, value.smallest, value.mean].map(short).join(", ")],
      ["zero, subnormal", `${value.zero}, ${value.subnormal}`],
      ["at the largest number", String(value.saturated)],
      ["infinite, NaN", `${value.infinite}, ${value.nan}`],
      ["SQNR", decibels(value.sqnr_db, value.sqnr)],
    ];
    if (rounding) lines.push(
      ["rounded from", rounding.from + (rounding.clamped ? ", clamped to the range" : "")],
      ["amax, smallest before", `${short(rounding.before.amax)}, ${short(rounding.before.smallest)}`],
      ["overflow, underflow", `${rounding.overflow}, ${rounding.underflow}`],
      ["without a code", String(rounding.no_code)],
      ["own SQNR", decibels(rounding.sqnr_db, rounding.sqnr)]);
    if (value.headroom_bits !== null) lines.push(
      ["headroom", `${value.headroom_bits.toFixed(2)} bits`],
      ["amax just below max", `* 2^${value.scale_log2}`]);
    return element("table", {}, ...lines.map(([name, text]) =>
      element("tr", {}, element("th", { scope: "row" }, name), element("td", {}, text))));
  }

  function candidates(value) {
    const loss = db => db === null ? "exact" : db.toFixed(1);
    const head = ["8 bits", "as is, dB", "scale", "scaled, dB"].map((name, column) =>
      element("th", { scope: "col", class: column ? "n" : "" }, name));
    const sorted = [...value.candidates].sort((a, b) =>
      (b.scaled_sqnr_db ?? Infinity) - (a.scaled_sqnr_db ?? Infinity) || 0);
    return element("table", {}, element("tr", {}, ...head), ...sorted.map(each =>
      element("tr", {}, element("th", { scope: "row" }, each.format),
        ...[loss(each.sqnr_db), `2^${each.scale_log2}`, loss(each.scaled_sqnr_db)].map(text =>
          element("td", { class: "n" }, text)))));
  }

  function blocks(value) {
    const head = ["in blocks", "SQNR, dB", "become 0", "clipped"].map((name, column) =>
      element("th", { scope: "col", class: column ? "n" : "" }, name));
    return element("table", {}, element("tr", {}, ...head), ...value.block_candidates.map(each =>
      element("tr", {}, element("th", { scope: "row" }, each.format),
        ...[each.sqnr_db === null ? "exact" : each.sqnr_db.toFixed(1), each.zero, each.clipped].map(
          text => element("td", { class: "n" }, String(text))))));
  }

  // Counts over exponents on a logarithmic axis, on the format's range.
  function histogram(value, before) {
    const format = report.formats[value.element];
    const range = ["smallest_subnormal", "smallest_normal", "max"].map(key => Math.log2(format[key]));
    const sets = [value.exponents, ...(before ? [before.exponents] : [])].filter(
      set => set.counts.length);
    const ends = sets.flatMap(set => [set.first, set.first + set.counts.length - 1]);
    if (format.bits < 16) ends.push(Math.floor(range[0]), Math.floor(range[2]));
    if (!ends.length) return element("p", {}, "No finite element but zero.");
    const low = Math.min(...ends) - 1, high = Math.max(...ends) + 2;
    const width = 640, height = 240, bottom = 40, top = 14;
    const most = 1.08 * Math.log1p(Math.max(1, ...sets.flatMap(set => set.counts)));
    const x = exponent => (exponent - low) / (high - low) * width;
    const y = count => height - bottom - Math.log1p(count) / most * (height - bottom - top);
    const inside = exponent => Math.min(Math.max(exponent, low), high);
    const picture = shape("svg", { viewBox: `0 0 ${width} ${height}`, role: "img",
      "aria-label": "Elements by power of two, on the range of the format" });
    const left = x(inside(range[0])), right = x(inside(range[2]));
    picture.append(shape("rect", { class: "w8 band", x: left, y: top, width: right - left,
      height: height - top - bottom }));
    const count = (set, exponent) => (set && set.counts[exponent - set.first]) || 0;
    const step = width / (high - low);
    for (let exponent = low; exponent < high; exponent++) {
      const now = count(value.exponents, exponent);
      const then = before ? count(before.exponents, exponent) : 0;
      const title = `2^${exponent}: ${now}` + (before ? `, before rounding ${then}` : "");
      const bar = (kind, number) => shape("rect", { class: kind, x: x(exponent) + .1 * step,
        width: .8 * step, y: y(number), height: height - bottom - y(number) },
        shape("title", {}, title));
      if (now) picture.append(bar("after", now));
      if (then) picture.append(bar("before", then));
    }
    const every = Math.ceil((high - low) / 12);
    for (let exponent = low; exponent < high; exponent++)
      if (exponent % every === 0) picture.append(shape("text",
        { x: x(exponent + .5), y: height - bottom + 14, "text-anchor": "middle" }, `2^${exponent}`));
    for (const [index, name] of ["smallest", "normal", "max"].entries()) {
      if (range[index] < low || range[index] > high) continue;
      const place = x(range[index]);
      const anchor = { x: place + [0, 4, 0][index], y: [10, 24, 10][index],
        "text-anchor": ["start", "start", "end"][index] };
      picture.append(shape("line", { class: "mark", x1: place, x2: place, y1: top,
        y2: height - bottom }), shape("text", anchor, name));
    }
    const beside = ["zero", "infinite", "NaN"].map(name => [name, name.toLowerCase()]).map(
      ([name, key]) => `${name} ${value[key]}` + (before ? ` (before ${before[key]})` : "")).join(", ");
    picture.append(shape("text", { x: 4, y: height - 6 },
      (before ? "filled: the value, outlined: before rounding; " : "") + beside));
    return picture;
  }

  table.tHead.addEventListener("click", event => {
    const head = event.target.closest("th");
    if (head) sortBy(heads.indexOf(head));
  });
  body.addEventListener("click", event => {
    const button = event.target.closest("button");
    if (button) toggle(button.closest("tr"));
  });
  for (const plot of document.querySelectorAll("figure svg"))
    plot.addEventListener("click", event => {
      const index = event.target.dataset && event.target.dataset.i;
      if (index === undefined) return;
      const row = document.getElementById(`v${index}`);
      row.hidden = false;
      if (row.querySelector("button").getAttribute("aria-expanded") !== "true") toggle(row);
      row.scrollIntoView({ block: "center" });
      row.querySelector("button").focus();
    });
  form.addEventListener("input", filter);
  form.addEventListener("submit", event => event.preventDefault());
  form.hidden = false;
  filter();
})();
