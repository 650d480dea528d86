"use strict";
// Shows /openapi.json, and needs nothing else.

const code = (text) => element("code", {}, text);
const between = (nodes, text) => nodes.flatMap((node, place) => (place ? [text, ...node] : node));
const bounds = { minimum: "at least", maximum: "at most", exclusiveMaximum: "below", maxLength: "length at most", minItems: "items at least" };

// A schema in a few words, with links to the types that it names.
function kindOf(schema) {
  if (schema.$ref) {
    const name = schema.$ref.split("/").pop();
    return [element("a", { href: `#${name}` }, name)];
  }
  if (schema.anyOf) return between(schema.anyOf.map(kindOf), " or ");
  if (schema.enum) return between(schema.enum.map((value) => [code(JSON.stringify(value))]), " or ");
  if ("const" in schema) return [code(JSON.stringify(schema.const))];
  if (schema.type === "array") return ["array of ", ...(schema.items ? kindOf(schema.items) : ["anything"])];
  if (schema.type === "object" && schema.additionalProperties) return ["object of ", ...kindOf(schema.additionalProperties)];
  const limits = Object.entries(bounds).filter(([key]) => key in schema).map(([key, words]) => `${words} ${schema[key]}`);
  return [[schema.type ?? "anything", ...limits].join(", ")];
}

function table(caption, rows, className = "fields") {
  const cells = ([name, kind, about]) => element(
    "tr", {}, element("th", { scope: "row" }, ...name), element("td", {}, ...kind, ...(about ? [element("br"), about] : [])),
  );
  return element("table", { class: className }, element("caption", {}, ...caption), element("tbody", {}, ...rows.map(cells)));
}

const initially = ({ default: value }) => (value === undefined || value === null ? [] : [", default ", code(JSON.stringify(value))]);

function fieldsOf(schema) {
  const isRequired = (name) => (schema.required ?? []).includes(name);
  return Object.entries(schema.properties ?? {}).map(([name, field]) => [
    [code(name), isRequired(name) ? "" : " (may be left out)"], [...kindOf(field), ...initially(field)], field.description,
  ]);
}

function requestSection(method, path, operation) {
  const sent = operation.requestBody?.content["application/json"].schema;
  const parameters = (operation.parameters ?? []).map((one) => [
    [code(one.name), ` in the ${one.in}`], [...kindOf(one.schema), ...initially(one.schema)], one.description,
  ]);
  const answers = Object.entries(operation.responses).map(([status, answer]) => {
    const [type, content] = Object.entries(answer.content)[0];
    if (status >= 400) return [[status], [answer.description]];
    return [[status], type === "application/json" ? kindOf(content.schema) : [type]];
  });
  return element(
    "section", { id: operation.operationId },
    element("h2", {}, code(`${method.toUpperCase()} ${path}`)),
    element("p", {}, operation.summary, ...(operation.security?.length === 0 ? [" Needs no token."] : [])),
    ...(parameters.length ? [table(["Parameters"], parameters)] : []),
    ...(sent ? [element("p", {}, "The body is JSON: ", ...kindOf(sent), ".")] : []),
    table(["Answers; from 400 on, each is a ", ...kindOf({ $ref: "ProblemAnswer" })], answers, "answers"),
  );
}

async function show() {
  const schema = await (await fetch("/openapi.json")).json();
  const requests = Object.entries(schema.paths).flatMap(
    ([path, methods]) => Object.entries(methods).map(([method, operation]) => [method, path, operation]),
  );
  byId("about").textContent = `${schema.info.description} Version ${schema.info.version}.`
    + (schema.security ? " Send the token with each request: Authorization: Bearer TOKEN." : "");
  byId("contents").replaceChildren(...requests.map(([method, path, { operationId }]) => element(
    "li", {}, element("a", { href: `#${operationId}` }, `${method.toUpperCase()} ${path}`),
  )));
  byId("requests").replaceChildren(...requests.map((one) => requestSection(...one)));
  byId("types").replaceChildren(...Object.entries(schema.components.schemas).map(([name, type]) => element(
    "section", { id: name }, element("h2", {}, name), element("p", {}, type.description ?? ""), table(["Fields"], fieldsOf(type)),
  )));
  document.getElementById(location.hash.slice(1))?.scrollIntoView();
}

show().catch((error) => { byId("about").textContent = `The schema cannot be shown: ${error.message}`; });
