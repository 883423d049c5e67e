const box = document.getElementById("paths");
const DEEPEST = 4;
let schemas = {};

function element(tag, text, kind) {
  const made = document.createElement(tag);
  if (text !== undefined) made.textContent = text;
  if (kind) made.className = kind;
  return made;
}

// A schema as the JSON it describes: types in place of values, "?" behind names that may be left out.
function sketch(schema, depth = 0) {
  if (!schema || Object.keys(schema).length === 0) return "any";
  if (schema.$ref) {
    const name = schema.$ref.split("/").pop();
    return depth >= DEEPEST ? name : sketch(schemas[name], depth + 1);
  }
  const choices = schema.oneOf || schema.anyOf;
  if (choices) {
    const shown = choices.filter((choice) => choice.type !== "null").map((choice) => sketch(choice, depth));
    return shown.length === 1 ? shown[0] : shown.every((s) => typeof s === "string") ? shown.join(" | ") : shown[0];
  }
  if (schema.enum) return schema.enum.join(" | ");
  if (schema.type === "array") return [sketch(schema.items, depth)];
  if (!schema.properties) return String(schema.type || "any");
  const required = new Set(schema.required || []);
  return Object.fromEntries(Object.entries(schema.properties).map(
    ([name, inner]) => [name + (required.has(name) ? "" : "?"), sketch(inner, depth)]));
}

function part(title, content) {
  const schema = content && Object.values(content)[0] && Object.values(content)[0].schema;
  if (!schema) return [];
  return [element("h3", title), element("pre", JSON.stringify(sketch(schema), null, 2))];
}

function parameters(given) {
  if (!given || !given.length) return [];
  const table = element("table");
  for (const one of given) {
    const row = element("tr");
    const name = element("td");
    name.append(element("code", one.name + (one.required ? "" : "?")));
    row.append(name, element("td", one.in), element("td", JSON.stringify(sketch(one.schema))));
    table.append(row);
  }
  return [element("h3", "Parameters"), table];
}

function fill(details, operation) {
  const inside = element("div", undefined, "inside");
  if (operation.description) inside.append(element("p", operation.description));
  inside.append(...parameters(operation.parameters));
  inside.append(...part("Request body", operation.requestBody && operation.requestBody.content));
  for (const [status, answer] of Object.entries(operation.responses)) {
    if (status.startsWith("2")) inside.append(...part("Answer " + status, answer.content));
  }
  details.append(inside);
}

function entry(method, path, operation) {
  const details = element("details");
  const summary = element("summary");
  summary.append(element("span", method.toUpperCase(), "method " + method), element("code", path));
  summary.append(element("span", operation.summary || "", "about"));
  details.append(summary);
  details.addEventListener("toggle", () => fill(details, operation), { once: true });
  details.dataset.text = `${method} ${path} ${operation.summary || ""}`.toLowerCase();
  return details;
}

function noun(path) {
  const words = path.replace("/api/v1", "").split("/").filter((word) => word);
  return words[0] || "/";
}

fetch("/docs/openapi.json").then((answer) => answer.json()).then((description) => {
  schemas = description.components.schemas;
  box.textContent = "";
  const groups = new Map();
  for (const [path, operations] of Object.entries(description.paths).sort()) {
    for (const [method, operation] of Object.entries(operations)) {
      if (!operation || !operation.responses) continue;
      if (!groups.has(noun(path))) groups.set(noun(path), element("section"));
      groups.get(noun(path)).append(entry(method, path, operation));
    }
  }
  for (const [name, section] of [...groups].sort()) {
    section.prepend(element("h2", name));
    box.append(section);
  }
}).catch((problem) => { box.textContent = "The description could not be read: " + problem; });

document.getElementById("filter").addEventListener("input", (event) => {
  const words = event.target.value.toLowerCase().split(" ");
  for (const section of box.children) {
    let shown = 0;
    for (const one of section.querySelectorAll("details")) {
      one.hidden = !words.every((word) => one.dataset.text.includes(word));
      shown += one.hidden ? 0 : 1;
    }
    section.hidden = shown === 0;
  }
});
