// A player's device checks by itself that every card it shows lay at its place from the start.
import { opens } from "./proofs.js";
import { t } from "./words.js";

async function prove() {
  const given = document.getElementById("proof");
  const line = document.getElementById("proved");
  if (!given || !line) return;
  const { hand, roots, openings } = JSON.parse(given.textContent);
  const found = await Promise.all(openings.map((one) => opens(one, hand, roots)));
  const holds = found.every(Boolean);
  line.className = `note ${holds ? "ok" : "bad"}`;
  line.textContent = holds
    ? t("✓ {count} cards lay at their places when the pack was dealt", { count: openings.length })
    : t("✗ A proof fails. Keep this page and call the floor.");
}

document.body.addEventListener("htmx:afterSwap", prove);
prove();
