// Keys that move through the cards: j and k choose, a and d go to the buttons of the chosen one. Nothing is decided before
// Enter, so that a key that was hit by mistake runs nothing.

import { useEffect, useRef, useState } from "preact/hooks";
import { isLetterKey } from "../../parts/letter_keys.ts";

/** Returns the id of the chosen card, and what chooses one. */
export function useCards(ids: string[]): [string | undefined, (id: string) => void] {
  const [chosen, setChosen] = useState<string>();
  const latest = useRef({ ids, chosen });
  latest.current = { ids, chosen };
  useEffect(() => {
    let before = "";
    const onKey = (event: KeyboardEvent) => {
      const { ids, chosen } = latest.current;
      // After `g` a letter goes to another page.
      const isSecond = before === "g";
      before = event.key;
      if (isSecond || !isLetterKey(event)) return;
      const place = chosen === undefined ? -1 : ids.indexOf(chosen);
      const at = (index: number) => document.getElementById(ids[Math.min(Math.max(index, 0), ids.length - 1)] ?? "");
      const focus = (element: HTMLElement | null | undefined) => {
        if (!element) return;
        event.preventDefault();
        element.focus();
        element.scrollIntoView({ block: "nearest" });
      };
      if (event.key === "j") focus(at(place + 1));
      else if (event.key === "k") focus(at(place - 1));
      else if (event.key === "a") focus(at(place)?.querySelector<HTMLElement>("button.primary"));
      else if (event.key === "d") focus(at(place)?.querySelector<HTMLElement>("button.danger"));
    };
    document.addEventListener("keydown", onKey);
    return () => document.removeEventListener("keydown", onKey);
  }, []);
  return [chosen, setChosen];
}
