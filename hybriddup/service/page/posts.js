"use strict";
// Posts of the window, newest first: searched, what repeats one of them, and deleted.

const A_PAGE = 20;
const MOST_ROUNDS = 10; // of 10,000 posts each, before somebody asks to go on
let wanted = {}; // what is searched for
let after = null; // where the list goes on

const textOf = (id) => (typeof id === "string" ? id : spelledId(id));
const typeOf = (id) => (typeof id === "string" ? "str" : "int");

function foundItem(one) {
  const item = decisionItem(one);
  const button = (label, act) => {
    const made = element("button", { type: "button", class: "quiet", "aria-label": `${label}: post ${shownId(one.id)}` }, label);
    made.addEventListener("click", () => act().catch((error) => say("search-status", error.message, true)));
    return made;
  };
  const repeats = () => search({ of: textOf(one.id), type: typeOf(one.id) });
  item.append(element("div", { class: "row" }, ...(one.decision === "kept" ? [button("What repeats it", repeats)] : []),
    button("Delete", () => deletePost(one, item))));
  return item;
}

async function search(given, goesOn = false) {
  const found = byId("found");
  if (!goesOn) {
    after = null;
    found.replaceChildren();
  }
  const mine = wanted = { ...given };
  const enough = found.children.length + A_PAGE;
  for (let round = 0; round < MOST_ROUNDS && found.children.length < enough && (round === 0 || after !== null); round++) {
    const asked = new URLSearchParams({ limit: A_PAGE, ...given, ...(after === null ? {} : { after }) });
    const answer = await ask(`/v1/posts?${asked}`);
    if (wanted !== mine) return; // something else is searched for by now
    after = answer.after;
    found.append(...answer.posts.map(foundItem));
  }
  byId("search-on").hidden = after === null;
  const n = found.children.length;
  const what = wanted.of === undefined ? "" : ` that ${n === 1 ? "repeats" : "repeat"} ${wanted.type === "int" ? "number " : ""}${wanted.of}`;
  const rest = after === null ? "" : " among the posts looked at so far";
  say("search-status", `${n ? whole(n) : "No"} ${n === 1 ? "post" : "posts"}${what}${rest}.`);
}

async function deletePost(one, item) {
  const sure = `Delete post ${shownId(one.id)}? Later posts are then decided as if it had not come. This cannot be undone.`;
  if (!confirm(sure)) return;
  await ask(`/v1/posts/${encodeURIComponent(textOf(one.id))}?type=${typeOf(one.id)}`, undefined, "DELETE");
  item.remove();
  say("search-status", `Post ${shownId(one.id)} is deleted.`);
}

byId("search-form").addEventListener("submit", (event) => {
  event.preventDefault();
  search({ q: byId("search").value }).catch((error) => say("search-status", error.message, true));
});
byId("search-on").addEventListener("click", () => search(wanted, true).catch((error) => say("search-status", error.message, true)));
