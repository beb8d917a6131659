// Keys that work everywhere, and the list of all keys.

import { useEffect } from "preact/hooks";
import { may } from "./api/caller.ts";
import { go } from "./location.ts";
import { Button } from "./parts/button.tsx";
import { Dialog } from "./parts/dialog.tsx";
import { CheckField } from "./parts/field.tsx";
import { hasLetterKeys, isHelpOpen, isLetterKey, setLetterKeys } from "./parts/letter_keys.ts";
import { AREAS } from "./routes.tsx";

export function useKeys(): void {
  useEffect(() => {
    let afterG = false;
    const onKey = (event: KeyboardEvent) => {
      if (!isLetterKey(event)) return;
      const wasAfterG = afterG;
      afterG = event.key === "g";
      if (event.key === "/") {
        event.preventDefault();
        document.getElementById("finder")?.focus();
      } else if (event.key === "?") {
        isHelpOpen.value = true;
      } else if (wasAfterG) {
        const area = AREAS.find((it) => it.letter === event.key);
        if (area !== undefined && may(area.level)) go([area.id]);
      }
    };
    document.addEventListener("keydown", onKey);
    return () => document.removeEventListener("keydown", onKey);
  }, []);
}

type Keys = [pressed: string[], effect: string][];

const LETTERS: Keys = [
  [["/"], "Search tools"],
  [["?"], "This list"],
  ...AREAS.map(({ letter, title }): Keys[number] => [["g", letter], title]),
  [["j"], "Approvals: the next call"],
  [["k"], "Approvals: the call before"],
  [["a"], "Approvals: to “Approve and run”; Enter does it"],
  [["d"], "Approvals: to “Deny”; Enter does it"],
];
const OTHERS: Keys = [
  [["Ctrl", "Enter"], "Run: runs the tool"],
  [["Ctrl", "s"], "Files: saves the file"],
  [["Ctrl", "f"], "Editor: searches the text"],
  [["Tab"], "Editor: leaves it"],
  [["Enter"], "Playground: sends the message"],
  [["Shift", "Enter"], "Playground: begins a line"],
  [["↑", "↓"], "Lists of files and tools: the row before, the next row"],
  [["←", "→"], "Lists of files: closes, opens a directory"],
  [["A", "…", "Z"], "Lists of files: to the next name that begins so"],
  [["Esc"], "Closes a dialog"],
];

export function KeyHelp() {
  const close = () => (isHelpOpen.value = false);
  return (
    <Dialog title="Keys" close={close}>
      <CheckField label="Keys of a single character" value={hasLetterKeys.value} onChange={setLetterKeys} hint="Kept in this browser." />
      {hasLetterKeys.value ? <KeyList of={LETTERS} /> : null}
      <h3>Keys that are always on</h3>
      <KeyList of={OTHERS} />
      <div class="dialog-foot">
        <Button onClick={close}>Close</Button>
      </div>
    </Dialog>
  );
}

function KeyList({ of }: { of: Keys }) {
  return (
    <dl class="facts">
      {of.map(([pressed, effect]) => (
        <>
          <dt key={effect}>
            {pressed.map((it) => (
              <>
                <kbd>{it}</kbd>{" "}
              </>
            ))}
          </dt>
          <dd>{effect}</dd>
        </>
      ))}
    </dl>
  );
}
