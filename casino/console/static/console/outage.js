// Asks whether the house works again, which reads nothing of the house, and then goes on to the page that was wanted.
const page = document.getElementById("outage");
const EVERY = 5000;
const readOnly = page.dataset.readOnly === "yes";

async function works() {
  try {
    const response = await fetch("/readyz", { cache: "no-store" });
    const { status } = await response.json();
    return readOnly ? response.ok && status !== "read_only" : response.ok;
  } catch {
    return false;
  }
}

setInterval(async () => {
  document.getElementById("waits").textContent = `Asked at ${new Date().toLocaleTimeString()}`;
  if (await works()) location.reload();
}, EVERY);
