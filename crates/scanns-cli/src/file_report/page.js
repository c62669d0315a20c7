"use strict";
(() => {
  // The tree: parents, names (null for the rest of a directory), and sums by node.
  const tree = JSON.parse(document.getElementById("tree").textContent);
  const children = tree.parents.map(() => []);
  tree.parents.forEach((parent, node) => parent === null || children[parent].push(node));
  const svg = document.getElementById("tiles");
  const told = document.getElementById("told");
  const trail = document.getElementById("trail");
  const measure = document.getElementById("measure");
  let current = 0;

  const HUES = [212, 164, 262, 34, 338, 190, 96, 14, 300, 60];

  const counted = (number) => number.toLocaleString("en");
  const bytes = (number) => {
    if (number < 1024) return number + " B";
    let unit = -1;
    do { number /= 1024; unit += 1; } while (number >= 1023.95 && unit < 4);
    const digits = number < 10 ? 2 : number < 1000 ? 1 : 0;
    return number.toFixed(digits) + " " + ["KiB", "MiB", "GiB", "TiB", "PiB"][unit];
  };
  const value = (node) => tree[measure.value][node];
  const amount = (node) => measure.value === "entries" ? counted(value(node)) : bytes(value(node));
  const name = (node) => tree.names[node] === null ? "rest" : tree.names[node] || "all entries";
  const path = (node) => {
    if (tree.names[node] === null) return "the rest of " + path(tree.parents[node]);
    if (tree.parents[node] === null) return name(node);
    const around = tree.names[tree.parents[node]] === "" ? "" : path(tree.parents[node]);
    return around + (around === "" || around.endsWith("/") ? "" : "/") + name(node);
  };
  const share = (node) => {
    const whole = value(0);
    return whole ? (100 * value(node) / whole).toFixed(1) + " %" : "";
  };
  const describe = (node) =>
    `${path(node)}: ${bytes(tree.space[node])} (size ${bytes(tree.size[node])}), ` +
    `${counted(tree.entries[node])} ${tree.entries[node] === 1 ? "entry" : "entries"}, ${share(node)} of all`;

  // Squarified tiles: rows are filled along the shorter side while their tiles become less oblong.
  function squarify(nodes, box) {
    let left = nodes.filter((node) => value(node) > 0).sort((one, other) => value(other) - value(one));
    const total = left.reduce((sum, node) => sum + value(node), 0);
    const scale = total ? box.w * box.h / total : 0;
    const placed = [];
    let { x, y, w, h } = box;
    while (left.length && w > 0.5 && h > 0.5) {
      const side = Math.min(w, h);
      let sum = 0, worst = Infinity, count = 0;
      for (const node of left) {
        const next = sum + value(node) * scale;
        const most = value(left[0]) * scale, least = value(node) * scale;
        const ratio = Math.max(side * side * most / (next * next), next * next / (side * side * least));
        if (count && ratio > worst) break;
        sum = next; worst = ratio; count += 1;
      }
      const depth = sum / side;
      let along = 0;
      for (const node of left.slice(0, count)) {
        const length = value(node) * scale / depth;
        placed.push(w >= h
          ? { node, x, y: y + along, w: depth, h: length }
          : { node, x: x + along, y, w: length, h: depth });
        along += length;
      }
      if (w >= h) { x += depth; w -= depth; } else { y += depth; h -= depth; }
      left = left.slice(count);
    }
    return placed;
  }

  const make = (kind, attributes, parent) => {
    const element = document.createElementNS("http://www.w3.org/2000/svg", kind);
    for (const key in attributes) element.setAttribute(key, attributes[key]);
    parent.append(element);
    return element;
  };
  const fill = (hue, node, depth) => {
    const saturation = tree.names[node] === null ? 10 : 46 - 3 * depth;
    return `hsl(${hue} ${saturation}% calc(var(--tile) + ${4 * depth}%))`;
  };
  function label(box, node, parent, inset) {
    const room = Math.floor((box.w - 10) / 7);
    if (room < 3 || box.h < 17) return;
    const cut = (text) => text.length > room ? text.slice(0, room - 1) + "…" : text;
    const beside = name(node).length + amount(node).length + 3 <= room && (inset || box.h < 34);
    const text = make("text", { x: box.x + 6, y: box.y + 14 }, parent);
    text.textContent = cut(name(node));
    if (beside) {
      make("tspan", { class: "size", dx: 8 }, text).textContent = amount(node);
    } else if (!inset && box.h > 34) {
      make("text", { x: box.x + 6, y: box.y + 29, class: "size" }, parent).textContent = cut(amount(node));
    }
  }

  // Draws what is in a tile, below its name, and the same within each; false if there is no room.
  function nest(tile, group, hue, depth) {
    const { node, x, y, w, h } = tile;
    if (w < 44 || h < 44 || depth > 4 || !children[node].length) return false;
    for (const below of squarify(children[node], { x: x + 3, y: y + 19, w: w - 6, h: h - 22 })) {
      const rect = { x: below.x, y: below.y, width: below.w, height: below.h };
      make("rect", { ...rect, fill: fill(hue, below.node, depth) }, group).dataset.node = below.node;
      const isLarge = below.w > 110 && below.h > 70;
      label(below, below.node, group, isLarge && nest(below, group, hue, depth + 1));
    }
    return true;
  }

  function draw(focus) {
    const box = svg.getBoundingClientRect();
    svg.replaceChildren();
    svg.setAttribute("viewBox", `0 0 ${box.width} ${box.height}`);
    const inside = children[current].length ? children[current] : [current];
    const tiles = squarify(inside, { x: 0, y: 0, w: box.width, h: box.height });
    tiles.forEach((tile, at) => {
      const { node, x, y, w, h } = tile;
      const hue = HUES[at % HUES.length];
      const opens = children[node].length > 0 && node !== current;
      const group = make("g", {
        tabindex: at === 0 ? 0 : -1, role: opens ? "button" : "img", class: opens ? "open" : "",
        "aria-label": describe(node),
      }, svg);
      make("rect", { x, y, width: w, height: h, fill: fill(hue, node, 0) }, group);
      const filled = opens && nest(tile, group, hue, 1);
      label(tile, node, group, filled);
      const edge = { x: x + 1.5, y: y + 1.5, width: Math.max(0, w - 3), height: Math.max(0, h - 3) };
      make("rect", { ...edge, class: "edge" }, group);
      const tell = (event) => {
        told.textContent = describe(Number(event.target.dataset?.node ?? node));
      };
      group.addEventListener("mousemove", tell);
      group.addEventListener("focus", tell);
      group.addEventListener("click", () => opens && zoom(node));
      group.addEventListener("keydown", (event) => {
        const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
        if (step) {
          const groups = [...svg.children];
          groups[(at + step + groups.length) % groups.length].focus();
        } else if ((event.key === "Enter" || event.key === " ") && opens) {
          zoom(node, true);
        } else if ((event.key === "Escape" || event.key === "Backspace") && current !== 0) {
          zoom(tree.parents[current], true);
        } else {
          return;
        }
        event.preventDefault();
      });
    });
    told.textContent = describe(current);
    if (focus) svg.firstElementChild?.focus();
  }

  function zoom(node, focus) {
    current = node;
    trail.replaceChildren();
    const way = [];
    for (let at = node; at !== null; at = tree.parents[at]) way.unshift(at);
    way.forEach((at) => {
      const button = document.createElement("button");
      button.type = "button";
      button.textContent = name(at);
      if (at === node) button.setAttribute("aria-current", "location");
      button.addEventListener("click", () => zoom(at));
      trail.append(button, at === node ? "" : "›");
    });
    draw(focus);
  }

  if (tree.space[0] || tree.size[0] || tree.entries[0]) {
    document.getElementById("map").hidden = false;
    measure.addEventListener("change", () => draw(false));
    new ResizeObserver(() => draw(false)).observe(svg);
    zoom(0);
  }

  // Tables are sorted by a column when its name is clicked: numbers from the greatest, names from the first.
  for (const table of document.querySelectorAll("table.sortable")) {
    table.querySelectorAll("thead th").forEach((head, at) => {
      const button = document.createElement("button");
      button.type = "button";
      button.textContent = head.textContent;
      head.replaceChildren(button);
      button.addEventListener("click", () => {
        const body = table.tBodies[0];
        const isNumber = body.rows[0]?.cells[at].dataset.v !== undefined;
        const was = head.getAttribute("aria-sort");
        const up = was ? was === "descending" : !isNumber;
        const rows = [...body.rows].sort((one, other) => {
          const [a, b] = [one.cells[at], other.cells[at]];
          const order = isNumber
            ? Number(a.dataset.v) - Number(b.dataset.v)
            : a.textContent.localeCompare(b.textContent);
          return up ? order : -order;
        });
        body.append(...rows);
        table.querySelectorAll("th[aria-sort]").forEach((other) => other.removeAttribute("aria-sort"));
        head.setAttribute("aria-sort", up ? "ascending" : "descending");
      });
    });
  }
})();
