"use strict";

const REFRESH_MS = 2000;
const MOST_REASONS = 12;
const MOST_AUTHORS = 5;
const TOKEN_KEY = "hybriddup-token";

function drawn(name, attributes, ...children) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

// Whole numbers past 2^53 are ids; a browser that shows the source of a number keeps them as they are written.
const keepLargeNumber = (key, value, context) =>
  (Number.isInteger(value) && !Number.isSafeInteger(value) && context?.source ? { number: context.source } : value);

const spelledId = (id) => (id !== null && typeof id === "object" ? id.number : JSON.stringify(id));
const shownId = (id) => (typeof id === "string" ? `“${id}”` : `number ${spelledId(id)}`);

async function ask(address, body, method = body ? "POST" : "GET") {
  const headers = {};
  const token = sessionStorage.getItem(TOKEN_KEY);
  if (token) headers["Authorization"] = `Bearer ${token}`;
  if (body) headers["Content-Type"] = "application/json";
  let answer;
  try {
    answer = await fetch(address, { method, headers, body });
  } catch {
    throw new Error("The service does not answer.");
  }
  const data = JSON.parse(await answer.text(), keepLargeNumber);
  if (answer.status === 401) byId("token-section").hidden = false;
  if (!answer.ok) throw new Error(`${data.message} Allowed: ${data.allowed}.`);
  return data;
}

function say(id, message, isError = false) {
  const place = byId(id);
  if (place.textContent !== message) place.textContent = message;
  place.classList.toggle("error", isError);
}

// ---- matches

function factsOf(match) {
  const verdict = match.is_match
    ? element("span", { class: "verdict-yes" }, "repeats it")
    : element("span", { class: "verdict-no" }, "does not repeat it");
  const bound = match.score >= match.threshold ? "reaches" : "is under";
  const apart = match.guards.length ? ` · kept apart: ${match.guards.join("; ")}` : "";
  const score = match.score.toFixed(3);
  return element(
    "p", { class: "facts" }, verdict,
    `${apart} · ${match.verifier} score ${score} ${bound} ${match.threshold} · ${match.hamming_distance} bits differ · ` +
    `length ${match.length_band} · id ${shownId(match.id)} · ${new Date(match.time * 1000).toLocaleString()}`,
  );
}

function matchItem(match, text) {
  const button = element("button", { type: "button", class: "quiet", "aria-label": `Explain match ${shownId(match.id)}` }, "Explain");
  button.addEventListener("click", () => explain(match, text, button));
  return element("li", {}, element("p", { class: "post", dir: "auto" }, match.text), factsOf(match), button);
}

async function findMatches(event) {
  event.preventDefault();
  const text = byId("text").value;
  const button = event.target.querySelector("button");
  button.disabled = true;
  byId("explanation").hidden = true;
  try {
    const { matches } = await ask("/v1/match", JSON.stringify({ text, limit: 10 }));
    byId("matches").replaceChildren(...matches.map((match) => matchItem(match, text)));
    const repeats = matches.filter((match) => match.is_match).length;
    const similar = matches.length - repeats;
    say("find-status", matches.length === 0
      ? "No kept post is similar. One that merely contains the text is found by searching, below."
      : `${repeats ? `Repeats ${repeats} kept ${repeats === 1 ? "post" : "posts"}` : "Repeats no kept post"}` +
        `${similar ? `; ${similar} more ${similar === 1 ? "is" : "are"} similar, but not enough` : ""}.`);
  } catch (error) {
    byId("matches").replaceChildren();
    say("find-status", error.message, true);
  }
  button.disabled = false;
}

// ---- explanation

function tokensOf(text, other) {
  const others = new Set(other.tokens.map(([token]) => token));
  if (text.tokens.length === 0) return ["none"];
  return text.tokens.map(([token, weight]) => {
    const only = !others.has(token);
    const shown = element("span", { class: only ? "token only" : "token", dir: "auto" }, token.replaceAll(" ", "␣"));
    shown.title = `weight ${weight.toPrecision(3)}${only ? "; not in the other text" : ""}`;
    return shown;
  });
}

function stepRow(name, a, b, className = "") {
  const cell = (content, whose) => element("td", { class: className, dir: "auto", "data-whose": whose }, ...[content].flat());
  return element("tr", {}, element("th", { scope: "row" }, name), cell(a, "Kept post"), cell(b, "Your text"));
}

const markedRow = (name, a, b) => stepRow(name, ...(Math.max(a.length, b.length) > MOST_SHOWN ? [a, b] : differences(a, b)));

function stepRows({ a, b }) {
  return [
    markedRow("Text", a.text, b.text),
    markedRow("Normalized", a.normalized, b.normalized),
    markedRow("Compared", a.compared, b.compared),
    stepRow("Characters", String(a.length), String(b.length)),
    stepRow("Tokens; dashed: not in the other", tokensOf(a, b), tokensOf(b, a), "tokens"),
    stepRow("Fingerprint", a.fingerprint, b.fingerprint, "mono"),
  ];
}

function pairRows(found) {
  const limit = found.max_hamming_distance === null ? "exact repeats only" : `at most ${found.max_hamming_distance} allowed`;
  const score = found.score === null ? "none"
    : `${found.verifier} score ${found.score.toFixed(4)}, threshold ${found.threshold}`;
  const rows = [
    ["Length band", `${found.length_band}, of the shorter text`],
    ["Distance", `${found.hamming_distance} bits differ, ${limit}`],
    ["Block keys", `${found.keys_in_common} of ${found.n_keys} in common (${found.block_index})`
      + (found.shared_keys.length ? `: ${found.shared_keys.join(" | ")}` : "")],
    ["Candidate", found.is_candidate === null ? "not known yet" : found.is_candidate ? "yes" : "no"],
    ["Second look", score],
    ...(found.guards.length ? [["Kept apart", found.guards.join("; ")]] : []),
    ...(found.reasons.length ? [["Because", found.reasons.slice(0, MOST_REASONS).join("; ")]] : []),
  ];
  return rows.map(([name, value]) => element("tr", {}, element("th", { scope: "row" }, name), element("td", {}, value)));
}

async function explain(match, text, button) {
  button.disabled = true;
  try {
    const found = await ask("/v1/explain", `{"text":${JSON.stringify(text)},"id":${spelledId(match.id)}}`);
    byId("verdict").textContent = found.verdict.replaceAll("B repeats A", "Your text repeats the kept post")
      .replaceAll("B does not repeat A", "Your text does not repeat the kept post");
    byId("verdict").className = found.matches ? "verdict-yes" : "verdict-no";
    byId("steps").tBodies[0].replaceChildren(...stepRows(found));
    byId("pair").tBodies[0].replaceChildren(...pairRows(found));
    byId("explanation").hidden = false;
    byId("explanation").focus();
    byId("explanation").scrollIntoView({ block: "start" });
  } catch (error) {
    say("find-status", error.message, true);
  }
  button.disabled = false;
}

// ---- latest decisions

const OUTCOMES = { kept: "kept", near: "near repeat", exact: "exact repeat" };
const MOST_SHOWN = 600;
const shortened = (text) => (text.length > MOST_SHOWN ? `${text.slice(0, MOST_SHOWN)}…` : text);

// Texts in pieces, each a word of Latin letters and digits or one other character.
const piecesOf = (text) => text.match(/[A-Za-z0-9]+|[^]/gu) ?? [];

// The longest common subsequence of two lists: for each place of either, whether it is part of it.
function common(a, b) {
  const width = b.length + 1;
  const lengths = new Uint16Array((a.length + 1) * width);
  for (let i = a.length - 1; i >= 0; i--) {
    for (let j = b.length - 1; j >= 0; j--) {
      const at = i * width + j;
      lengths[at] = a[i] === b[j] ? lengths[at + width + 1] + 1 : Math.max(lengths[at + width], lengths[at + 1]);
    }
  }
  const [inA, inB] = [new Array(a.length).fill(false), new Array(b.length).fill(false)];
  for (let i = 0, j = 0; i < a.length && j < b.length;) {
    if (a[i] === b[j]) { inA[i++] = inB[j++] = true; }
    else if (lengths[(i + 1) * width + j] >= lengths[i * width + j + 1]) i++;
    else j++;
  }
  return [inA, inB];
}

// The nodes of two texts, with what only one of them has marked.
function differences(a, b) {
  const [piecesA, piecesB] = [piecesOf(a), piecesOf(b)];
  const [inA, inB] = common(piecesA, piecesB);
  return [marked(piecesA, inA), marked(piecesB, inB)];
}

function marked(pieces, isCommon) {
  const nodes = [];
  for (let from = 0; from < pieces.length;) {
    let to = from;
    while (to < pieces.length && isCommon[to] === isCommon[from]) to++;
    const run = pieces.slice(from, to).join("");
    nodes.push(isCommon[from] ? run : element("mark", {}, run));
    from = to;
  }
  return nodes;
}

function decisionFacts(one) {
  const outcome = one.decision === "kept" ? "kept" : one.reason;
  const why = one.decision === "kept" ? "" : outcome === "exact" ? ` of ${shownId(one.duplicate_of)}`
    : ` of ${shownId(one.duplicate_of)} · ${one.verifier} score ${one.score.toFixed(3)}, threshold ${one.threshold}`;
  return element(
    "p", { class: "facts" }, element("span", { class: `outcome-${outcome}` }, OUTCOMES[outcome]),
    `${why} · id ${shownId(one.id)} · ${new Date(one.time * 1000).toLocaleString()}${copiesOf(one)}`,
  );
}

function copiesOf(one) {
  const authors = one.authors ?? [];
  const by = authors.length === 0 ? ""
    : ` · by ${authors.slice(0, MOST_AUTHORS).map((author) => (typeof author === "string" ? author : spelledId(author))).join(", ")}`
      + (authors.length > MOST_AUTHORS ? ` and ${whole(authors.length - MOST_AUTHORS)} more` : "");
  if (!one.n_copies) return by;
  const seen = [one.first_seen, one.last_seen].map((time) => new Date(time * 1000).toLocaleString());
  return ` · ${whole(one.n_copies)} ${one.n_copies === 1 ? "copy" : "copies"}, first seen ${seen[0]}, last seen ${seen[1]}${by}`;
}

const versionOf = (one) => `${one.position}, ${one.n_copies} copies`;

function decisionItem(one) {
  const [text, ofText] = [shortened(one.text), shortened(one.of_text ?? "")];
  const post = (...nodes) => element("p", { class: "post", dir: "auto" }, ...nodes);
  const item = element("li", { "data-position": one.position, "data-shown": versionOf(one) });
  if (one.reason === "near" && one.of_text) {
    const [ofNodes, nodes] = differences(ofText, text);
    item.append(decisionFacts(one), post(...nodes), post(...ofNodes));
  } else item.append(decisionFacts(one), post(text));
  return item;
}

async function showLatest() {
  const outcome = byId("outcome").value;
  const { decisions } = await ask(`/v1/decisions?limit=20${outcome && `&decision=${outcome}`}`);
  if (outcome !== byId("outcome").value) return;
  const shown = new Map([...byId("latest").children].map((item) => [item.dataset.shown, item]));
  const items = decisions.map((one) => shown.get(versionOf(one)) ?? decisionItem(one));
  const isSame = items.length === shown.size && items.every((item, place) => item === byId("latest").children[place]);
  if (!isSame) byId("latest").replaceChildren(...items);
  say("latest-status", decisions.length ? "" : "None since the service was started.");
}

// ---- counts and chart

const whole = (number) => number.toLocaleString("en");
const share = (part, all) => (all ? [" ", element("small", {}, `${((100 * part) / all).toFixed(1)} %`)] : []);

function size(bytes) {
  const units = ["bytes", "KB", "MB", "GB", "TB"];
  const unit = bytes < 1000 ? 0 : Math.min(4, Math.floor(Math.log10(bytes) / 3));
  return `${(bytes / 1000 ** unit).toFixed(unit ? 1 : 0)} ${units[unit]}`;
}

function showCounts(stats) {
  const recall = stats.estimated_recall === null ? "not yet"
    : [stats.estimated_recall.toFixed(4), " ", element("small", {}, stats.recall_interval.map((bound) => bound.toFixed(3)).join(" to "))];
  const counts = [
    ["posts decided", whole(stats.n_posts)],
    ["kept", [whole(stats.n_kept), ...share(stats.n_kept, stats.n_posts)]],
    ["near repeats", [whole(stats.n_near), ...share(stats.n_near, stats.n_posts)]],
    ["exact repeats", [whole(stats.n_exact), ...share(stats.n_exact, stats.n_posts)]],
    ["sent again with the same id", whole(stats.n_repeated_ids)],
    ["older than the horizon", whole(stats.n_late)],
    ["deleted", whole(stats.n_deleted)],
    ["waiting to be decided", whole(stats.n_waiting)],
    ["kept posts in the window", whole(stats.n_kept_in_window)],
    ["memory of the index", size(stats.index_bytes)],
    ["size of the store", stats.store_bytes === null ? "not reported" : size(stats.store_bytes)],
    ["near repeats found, estimated share", recall],
  ];
  byId("counts").replaceChildren(
    ...counts.map(([name, value]) => element("div", {}, element("dt", {}, name), element("dd", {}, ...[value].flat()))),
  );
  const bands = Object.entries(stats.by_band).sort(([a], [b]) => parseInt(a, 10) - parseInt(b, 10));
  byId("bands").tBodies[0].replaceChildren(...bands.map(([band, one]) => element(
    "tr", {}, element("th", { scope: "row" }, band),
    ...["kept", "near", "exact"].map((outcome) => element("td", {}, whole(one[outcome] ?? 0))),
  )));
}

// The next of 1, 2, 5, 10, 20, ...
function rounded(largest) {
  const power = 10 ** Math.floor(Math.log10(largest));
  return power * [1, 2, 5, 10].find((step) => step * power >= largest);
}

const BOX = { left: 52, top: 8, width: 680, height: 140 }; // its width is that of the page

function barsOf(slot, place, unit, barWidth) {
  let bottom = BOX.top + BOX.height;
  const x = BOX.left + place * barWidth;
  return ["kept", "near", "exact"].filter((outcome) => slot[outcome]).map((outcome) => {
    const height = slot[outcome] * unit;
    bottom -= height;
    return drawn("rect", { class: outcome, x, y: bottom, width: Math.max(barWidth - 0.6, 0.5), height });
  });
}

function axes(largest) {
  const marks = [0, largest / 2, largest].flatMap((value) => {
    const y = BOX.top + BOX.height * (1 - value / largest);
    return [
      drawn("line", { class: "axis", x1: BOX.left, x2: BOX.left + BOX.width, y1: y, y2: y }),
      drawn("text", { x: BOX.left - 6, y: y + 4, "text-anchor": "end" }, whole(value)),
    ];
  });
  const times = [["30 minutes ago", 0, "start"], ["15", 0.5, "middle"], ["now", 1, "end"]];
  return [...marks, ...times.map(([name, at, anchor]) => drawn(
    "text", { x: BOX.left + at * BOX.width, y: BOX.top + BOX.height + 20, "text-anchor": anchor }, name,
  ))];
}

function showChart(history) {
  const { slots, n_slots: nSlots, seconds_a_slot: seconds } = history;
  const now = slots.length ? slots[slots.length - 1].start : 0;
  const totals = slots.map((slot) => slot.kept + slot.near + slot.exact);
  const largest = rounded(Math.max(2, ...totals));
  const chart = byId("chart");
  BOX.width = Math.max(chart.clientWidth, 240) - BOX.left - 8;
  chart.setAttribute("viewBox", `0 0 ${BOX.left + BOX.width + 8} ${BOX.top + BOX.height + 32}`);
  const barWidth = BOX.width / nSlots;
  const bars = slots.flatMap((slot) => {
    const place = nSlots - 1 - (now - slot.start) / seconds;
    return place < 0 ? [] : barsOf(slot, place, BOX.height / largest, barWidth);
  });
  chart.replaceChildren(...axes(largest), ...bars);
  const all = totals.reduce((sum, n) => sum + n, 0);
  const most = Math.max(0, ...totals);
  say("chart-summary", `${whole(all)} decisions; ${whole(most)} in the busiest ten seconds.`);
}

async function refresh() {
  try {
    const stats = await ask("/v1/stats");
    showCounts(stats);
    showChart(stats.history);
    await showLatest();
    byId("token-section").hidden = true;
    say("status", `Ready: ${whole(stats.n_kept_in_window)} kept posts in the window. Index: ${stats.index}.`);
  } catch (error) {
    say("status", error.message, true);
  }
  setTimeout(refresh, document.hidden ? 10 * REFRESH_MS : REFRESH_MS);
}

byId("find-form").addEventListener("submit", findMatches);
byId("text").addEventListener("keydown", (event) => {
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) byId("find-form").requestSubmit();
});
byId("outcome").addEventListener("change", () => showLatest().catch((error) => say("status", error.message, true)));
byId("token-form").addEventListener("submit", (event) => {
  event.preventDefault();
  sessionStorage.setItem(TOKEN_KEY, byId("token").value.trim());
  byId("token").value = "";
  byId("token-section").hidden = true;
  ask("/v1/stats").then(() => say("status", "Ready."), (error) => say("status", error.message, true));
});
refresh();
