"use strict";
const byId = (id) => document.getElementById(id);

function searchPairs() {
  const words = byId("words").value.toLowerCase().split(/\s+/).filter(Boolean);
  const reason = byId("reason").value;
  let found = 0;
  for (const item of byId("pairs").children) {
    const text = [...item.querySelectorAll(".post, .rows span")].map((one) => one.textContent.toLowerCase()).join(" ");
    const isFound = (!reason || item.dataset.reason === reason) && words.every((word) => text.includes(word));
    item.hidden = !isFound;
    found += isFound;
  }
  byId("found").textContent = words.length || reason ? `${found} found` : "";
}

if (byId("search")) {
  byId("search").hidden = false;
  byId("search").addEventListener("submit", (event) => event.preventDefault());
  byId("search").addEventListener("input", searchPairs);
}
addEventListener("beforeprint", () => document.querySelectorAll("details").forEach((one) => { one.open = true; }));
