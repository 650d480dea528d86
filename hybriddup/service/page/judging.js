"use strict";
// Pairs of posts that a person judges. The answers stay in this browser, and are saved as lines for `hybriddup tune`.

const ANSWERS_KEY = "hybriddup-answers";
const FIRST_ANSWERS = 30; // from there on, every other pair is one of which the score is least sure
const KEYS = { y: "1", n: "0", u: "unsure", b: "back" };
const answers = JSON.parse(localStorage.getItem(ANSWERS_KEY) ?? "[]"); // [{a, b, label, score}]
let pairs = []; // that may be asked about
let asked = null; // the one that is shown

const pairKey = ({ a, b }) => JSON.stringify([a, b].sort());
const isOpen = () => {
  const answered = new Set(answers.map(pairKey));
  return (pair) => !answered.has(pairKey(pair));
};

async function morePairs() {
  const found = (await ask("/v1/pairs?limit=100")).pairs;
  const known = new Set(pairs.map(pairKey));
  pairs = [...pairs, ...found.filter((pair) => !known.has(pairKey(pair)))].filter(isOpen());
}

// The score between two answers that parts the answers with the fewest wrong ones; null where all are alike.
function border() {
  const sure = answers.filter((one) => one.label !== "unsure").sort((one, other) => one.score - other.score);
  let wrong = sure.filter((one) => one.label === 0).length;
  if (wrong === 0 || wrong === sure.length) return null;
  let best = { wrong, score: 0 };
  for (const one of sure) {
    wrong += one.label === 1 ? 1 : -1;
    if (wrong < best.wrong) best = { wrong, score: one.score };
  }
  return best.score;
}

function nextPair() {
  const middle = answers.length >= FIRST_ANSWERS && answers.length % 2 ? border() : null;
  if (middle === null) return pairs.shift() ?? null;
  const distance = (pair) => Math.abs(pair.score - middle);
  const chosen = pairs.reduce((best, pair) => (best && distance(best) <= distance(pair) ? best : pair), null);
  pairs = pairs.filter((pair) => pair !== chosen);
  return chosen;
}

function showPair(pair) {
  asked = pair;
  byId("pair-to-judge").hidden = pair === null;
  byId("judge-start").hidden = pair !== null;
  if (pair === null) return;
  const [nodesA, nodesB] = differences(pair.a, pair.b);
  byId("judge-a").replaceChildren(...nodesA);
  byId("judge-b").replaceChildren(...nodesB);
}

async function askNext() {
  try {
    if (pairs.length === 0) await morePairs();
    showPair(nextPair());
    showAnswers(asked ? "" : " No other pairs now: they come with new posts.");
  } catch (error) {
    showPair(null);
    say("judge-status", error.message, true);
  }
}

function showAnswers(more = "") {
  const n = answers.length;
  say("judge-status", `${n ? `${whole(n)} ${n === 1 ? "answer" : "answers"}.` : ""}${more}`);
  const save = byId("judge-save");
  save.hidden = byId("judge-forget").hidden = n === 0;
  URL.revokeObjectURL(save.href);
  const lines = answers.map(({ a, b, label }) => `${JSON.stringify({ a, b, label })}\n`);
  save.href = URL.createObjectURL(new Blob(lines, { type: "application/x-ndjson" }));
}

function keepAnswers() {
  try {
    localStorage.setItem(ANSWERS_KEY, JSON.stringify(answers));
    return true;
  } catch {
    say("judge-status", "This browser has no room for more answers: save them, and delete them here.", true);
    return false;
  }
}

function goBack() {
  const last = answers.pop();
  if (!last) return;
  if (asked) pairs.unshift(asked);
  keepAnswers();
  showPair(last);
  showAnswers();
}

async function answer(given) {
  if (given === "back") return goBack();
  if (asked === null) return;
  answers.push({ a: asked.a, b: asked.b, label: given === "unsure" ? given : Number(given), score: asked.score });
  if (keepAnswers()) await askNext();
  else answers.pop();
}

function forgetAnswers() {
  if (!confirm(`Delete ${answers.length} answers from this browser?`)) return;
  answers.length = 0;
  keepAnswers();
  showAnswers();
}

byId("judge-start").addEventListener("click", askNext);
byId("judge-forget").addEventListener("click", forgetAnswers);
for (const button of document.querySelectorAll("[data-answer]")) {
  button.addEventListener("click", () => answer(button.dataset.answer));
}
document.addEventListener("keydown", (event) => {
  const isTyping = event.target.closest("input, textarea, select");
  if (isTyping || event.ctrlKey || event.metaKey || event.altKey || !KEYS[event.key]) return;
  answer(KEYS[event.key]);
});
if (answers.length) showAnswers();
