// Shows a page of another server. The console sends its address once; nobody else is listened to.

const LOOPBACK = ["127.0.0.1", "localhost"];

/** Whether the address may be shown. The API has refused all others already; this page does not rely on it. */
function isAllowed(address) {
  let url;
  try {
    url = new URL(address);
  } catch {
    return false;
  }
  // A page of Pegboard itself would act with the rights of the person.
  if (url.origin === location.origin) return false;
  return url.protocol === "https:" || (url.protocol === "http:" && LOOPBACK.includes(url.hostname));
}

function show({ url, title }) {
  const frame = document.createElement("iframe");
  frame.setAttribute("sandbox", "allow-scripts allow-forms");
  frame.referrerPolicy = "no-referrer";
  frame.title = String(title);
  frame.src = url;
  // Set one by one, because the policy allows no style of the document.
  for (const element of [document.body, frame]) Object.assign(element.style, { margin: "0", border: "0", display: "block" });
  Object.assign(frame.style, { width: "100%", height: "100vh" });
  document.body.replaceChildren(frame);
}

function take(event) {
  if (window.parent === window || event.source !== window.parent || event.origin !== location.origin) return;
  const asked = event.data;
  if (typeof asked !== "object" || asked === null || !isAllowed(asked.url)) return;
  removeEventListener("message", take);
  show(asked);
}

addEventListener("message", take);
window.parent.postMessage("ready", location.origin);
