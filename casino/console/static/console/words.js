// Words in the language of the page: its catalogue stands in a block of data; without one the English words are said.
const block = document.getElementById("words");
const catalogue = block ? JSON.parse(block.textContent) : {};

export const language = document.documentElement.lang || "en";
export const mark = document.documentElement.dataset.mark || ".";

// The words, with what they name filled in: t("Sent {count} times", { count: 3 }).
export function t(words, named = {}) {
  return (catalogue[words] || words).replace(/\{(\w+)\}/g, (place, name) => (name in named ? String(named[name]) : place));
}
