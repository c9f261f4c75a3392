// Single letters press buttons, unless somebody is typing.
export const isTyping = (target) =>
  target instanceof Element && (target.closest("input, textarea, select") !== null || target.isContentEditable);

export function keys() {
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey && event.key === "Enter") {
      const form = event.target instanceof Element ? event.target.closest("form") : null;
      (form || document.querySelector("form[data-command]"))?.requestSubmit();
      return;
    }
    if (event.key === "Escape" && isTyping(event.target)) {
      // Letters are keys again.
      event.target.blur();
      return;
    }
    if (isTyping(event.target) || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "/") {
      const find = document.querySelector('[type="search"], .till [name="player"]');
      if (find) {
        event.preventDefault();
        find.focus();
      }
      return;
    }
    const wanted = event.key.toUpperCase();
    const button = [...document.querySelectorAll("[data-key]")].find((one) => one.dataset.key === wanted && !one.disabled);
    if (button) {
      event.preventDefault();
      button.click();
    }
  });
}
