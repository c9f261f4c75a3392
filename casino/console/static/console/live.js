// Hints that something has changed; a page that has heard nothing for five seconds says so, and takes no act.
import { say, said, heard, freeze, thaw } from "./strip.js";
import { changed } from "./commands.js";
import { language, t } from "./words.js";

const STALE = 5000;

export function live(followed) {
  let last = Date.now();
  let stale = false;
  let first = true;
  const time = () => new Date(last).toLocaleTimeString(language);

  function sign() {
    last = Date.now();
    heard(t("live"));
    if (stale || first) {
      thaw("stale");
      // What was recorded or refused meanwhile stays said.
      if (said() === "connecting") say("live", t("Ready"), "");
      if (said() === "stale") say("live", t("Live again"), "");
      if (!first) changed();
      stale = first = false;
    }
  }

  const source = new EventSource(`/console/live/${followed.dataset.live}`);
  source.addEventListener("beat", sign);
  source.addEventListener("hint", () => {
    sign();
    changed();
  });
  source.addEventListener("reset", () => location.reload());
  source.addEventListener("open", sign);
  setInterval(() => {
    if (stale || Date.now() - last < STALE) return;
    stale = true;
    freeze("stale");
    heard(t("nothing heard since {time}", { time: time() }));
    say("stale", t("Stale"), t("Nothing heard since {time}. Nothing can be recorded until the house answers.", { time: time() }));
  }, 500);
}
