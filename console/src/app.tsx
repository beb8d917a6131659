// The frame around every page: who the person is, the navigation, the keys, and the page itself.

import { useSignal } from "@preact/signals";
import { useEffect, useErrorBoundary, useRef } from "preact/hooks";
import { caller, callerTurn, may, recognise, seat, signIn, stage, token, visit, workspace } from "./api/caller.ts";
import { type Loaded, useEvery, useRead } from "./api/load.ts";
import { isWorkspaceName } from "./api/names.ts";
import { knock, online } from "./api/reach.ts";
import { ApiError, send, WHO } from "./api/request.ts";
import { Finder } from "./finder.tsx";
import { KeyHelp, useKeys } from "./keys.tsx";
import { askedWorkspace, link, linkHere, query, segments } from "./location.ts";
import { Button } from "./parts/button.tsx";
import { copy } from "./parts/clipboard.tsx";
import { CopyByHand } from "./parts/copy_by_hand.tsx";
import { isHelpOpen } from "./parts/letter_keys.ts";
import { Badge } from "./parts/marks.tsx";
import { Failure, Loading } from "./parts/states.tsx";
import { Toasts } from "./parts/toast.tsx";
import { AREAS, type Area } from "./routes.tsx";
import { SignIn } from "./sign_in.tsx";

export function App() {
  const asked = askedWorkspace.value;
  const leadsElsewhere = asked !== null && asked !== workspace.value && isWorkspaceName(asked);
  // Without a token there is nothing to lose: an open Pegboard shows the other workspace, and any other asks who is there.
  const follows = leadsElsewhere && token.value === "" && stage.value === "here";
  useEffect(() => {
    if (follows) signIn(asked, "");
    if (follows || !leadsElsewhere) askedWorkspace.value = null;
  }, [asked, follows]);
  if (follows) return <Loading />;
  if (leadsElsewhere) {
    const stay = () => (askedWorkspace.value = null);
    return <SignIn key={asked} why={`The link leads to the workspace ${asked}, and ${stage.value === "ended" ? "your token is no longer valid" : `your token is for ${workspace.value}`}.`} to={asked} stay={stay} />;
  }
  // Everybody who signs in begins anew.
  return <Session key={seat.value} />;
}

/** How often a console that is cut off asks whether Pegboard answers. */
const KNOCK_EVERY_MS = 3_000;

/** Asks until Pegboard answers again, and at once when the machine is back in its network. */
function useKnocking() {
  useEvery(online.value ? undefined : KNOCK_EVERY_MS, knock);
  useEffect(() => {
    window.addEventListener("online", knock);
    return () => window.removeEventListener("online", knock);
  }, []);
}

/** With these statuses the Worker does not know the person; any other is a fault that may pass. */
const ASKS_WHO: ReadonlySet<number> = new Set([400, 401, 403]);

const whyOf = ({ status, message }: ApiError) => (status === 401 && token.value === "" ? "This Pegboard asks for a token." : message);

const ENDED = "Your token is no longer valid in this workspace: it has expired, or was revoked. What you typed is still there.";
const UNKNOWN = "The token is not valid in this workspace.";

function Session() {
  useKnocking();
  const who = useRead(`${visit.value}`, stage.value === "ended" ? null : (signal) => send(WHO, signal));
  useEffect(() => {
    if (who.data !== undefined) recognise({ ...who.data, agent_id: who.data.agent_id ?? null });
  }, [who.data]);
  const firstTurn = useRef(callerTurn.value);
  useEffect(() => {
    if (callerTurn.value !== firstTurn.current) who.reload();
  }, [callerTurn.value]);
  const isHere = stage.value === "here";
  const gate = gateOf(who);
  // The pages of somebody who comes back keep what was typed; meanwhile nobody sees them.
  const keeps = caller.value !== null && (!isHere || gate === null);
  return (
    <>
      {gate}
      {keeps ? (
        <div hidden={!isHere}>
          <Frame />
        </div>
      ) : null}
    </>
  );
}

/** What stands before the pages; null if the person may see them. */
function gateOf(who: Loaded<unknown>) {
  if (stage.value === "ended") return <SignIn why={caller.value === null ? UNKNOWN : ENDED} />;
  if (who.error !== undefined && ASKS_WHO.has(who.error.status)) return <SignIn why={whyOf(who.error)} />;
  if (caller.value !== null && stage.value === "here") return null;
  return who.error === undefined ? <Loading what="Asking who you are" /> : <Failure error={who.error} retry={who.reload} />;
}

function Frame() {
  const menuIsOpen = useSignal(false);
  useKeys();
  const areas = AREAS.filter((it) => may(it.level));
  const current = segments.value[0] ?? areas[0]?.id ?? "tools";
  const area = AREAS.find((it) => it.id === current);
  const path = segments.value.slice(1);
  useEffect(() => {
    menuIsOpen.value = false;
  }, [segments.value]);
  return (
    <div class="frame">
      <a class="skip" href="#main" onClick={skipToMain}>
        Skip to the page
      </a>
      <header class="bar">
        <span class="menu">
          <Button label="Navigation" onClick={() => (menuIsOpen.value = !menuIsOpen.value)}>
            ☰
          </Button>
        </span>
        <a class="brand" href="#/" aria-label="Pegboard">
          <img src="/favicon.svg" alt="" width="20" height="20" /> <span>Pegboard</span>
        </a>
        <Finder />
        <Who />
      </header>
      <nav class="side" aria-label="Pages" data-open={menuIsOpen.value}>
        <div class="side-list">
          <ul>
            {areas.map((it) => (
              <li key={it.id}>
                <a href={link([it.id])} aria-current={it.id === current ? "page" : undefined}>
                  {it.title}
                </a>
              </li>
            ))}
          </ul>
          <div class="row side-foot">
            <Button narrow title="Copies the address of this page, with its workspace" onClick={() => void copy(linkHere(workspace.value))}>
              Copy link
            </Button>
            <Button narrow onClick={() => (isHelpOpen.value = true)}>
              Keys
            </Button>
          </div>
        </div>
      </nav>
      <main class="main" id="main" tabIndex={-1}>
        {online.value ? null : (
          <p class="notice warn" role="status">
            Pegboard does not answer. The page shows what was read before, and goes on when Pegboard answers.
          </p>
        )}
        {area === undefined ? <NoPage name={current} /> : <Guarded key={current} area={area} path={path} />}
      </main>
      <Toasts />
      <CopyByHand />
      {isHelpOpen.value ? <KeyHelp /> : null}
    </div>
  );
}

/** A fault of one view leaves the rest of the console usable, also the other views of its page. */
function Guarded({ area, path }: { area: Area; path: string[] }) {
  const [fault, reset] = useErrorBoundary();
  useEffect(() => {
    if (fault !== undefined) reset();
  }, [segments.value, query.value]);
  if (fault !== undefined) {
    const message = fault instanceof Error ? fault.message : String(fault);
    return <Failure error={new ApiError(0, "CONSOLE", `The page could not be shown: ${message}`, null, null)} retry={reset} />;
  }
  const Contents = area.page;
  return <Contents path={path} />;
}

function NoPage({ name }: { name: string }) {
  return (
    <p class="notice">
      There is no page “{name}”. The navigation lists all pages.
    </p>
  );
}

function Who() {
  const present = caller.value;
  if (present === null) return null;
  return (
    <a class="who button quiet" href={link(["settings"])} title="Settings: workspace, token, theme">
      <span>{present.workspace}</span>
      <Badge tone="accent">{present.agent_id === null ? present.level : "bound"}</Badge>
    </a>
  );
}

/** A link to `#main` would be a path of the console. */
function skipToMain(event: Event) {
  event.preventDefault();
  document.getElementById("main")?.focus();
}
