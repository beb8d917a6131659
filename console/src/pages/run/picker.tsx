// A field that finds a tool while the person types.

import { useEffect, useId, useRef, useState } from "preact/hooks";
import { useLoad } from "../../api/load.ts";
import { request } from "../../api/request.ts";
import type { Tool } from "../../api/types.ts";
import { go } from "../../location.ts";
import { RiskBadge } from "../../parts/marks.tsx";
import { searchWords } from "./search_words.ts";

const SHOWN = 20;
/** A pause in typing after which the search begins. */
const PAUSE_MS = 150;

export function ToolPicker({ tool }: { tool: string | undefined }) {
  const [words, setWords] = useState("");
  const [searched, setSearched] = useState("");
  const [isOpen, setOpen] = useState(false);
  const [active, setActive] = useState(0);
  const id = useId();
  const list = useRef<HTMLUListElement>(null);
  useEffect(() => {
    const timer = setTimeout(() => setSearched(searchWords(words)), PAUSE_MS);
    return () => clearTimeout(timer);
  }, [words]);
  const found = useLoad(isOpen ? request("get", "/api/tools", { query: { limit: SHOWN, ...(searched === "" ? {} : { q: searched }) } }) : null);
  const tools = (found.data?.tools ?? []) as Tool[];
  const chosen = Math.min(active, Math.max(0, tools.length - 1));
  useEffect(() => {
    list.current?.children[chosen]?.scrollIntoView({ block: "nearest" });
  }, [chosen]);
  const choose = (picked: Tool | undefined) => {
    if (picked === undefined) return;
    setOpen(false);
    setWords("");
    go(["run", picked.id]);
  };
  const onKey = (event: KeyboardEvent) => {
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      event.preventDefault();
      if (!isOpen) setOpen(true);
      else setActive((chosen + (event.key === "ArrowDown" ? 1 : tools.length - 1)) % Math.max(1, tools.length));
    } else if (event.key === "Enter") {
      event.preventDefault();
      // Until the search has caught up with the typing, the list is about other words. The field has letters that this view of
      // the page does not know yet.
      const typed = (event.currentTarget as HTMLInputElement).value;
      if (isOpen && searchWords(typed) === searched) choose(tools[chosen]);
    } else if (event.key === "Escape" && isOpen) {
      event.preventDefault();
      setOpen(false);
    }
  };
  return (
    <div class="field picker">
      <label for={id}>Tool</label>
      <input
        id={id}
        type="text"
        role="combobox"
        autocomplete="off"
        spellcheck={false}
        aria-expanded={isOpen}
        aria-controls={`${id}-list`}
        aria-autocomplete="list"
        {...(isOpen && tools.length > 0 ? { "aria-activedescendant": `${id}-${chosen}` } : {})}
        placeholder={tool ?? "Type words of its name or description"}
        value={words}
        onInput={(event) => {
          setWords(event.currentTarget.value);
          setActive(0);
          setOpen(true);
        }}
        onFocus={() => setOpen(true)}
        onBlur={() => setOpen(false)}
        onKeyDown={onKey}
      />
      <div class="picker-list" hidden={!isOpen}>
        <ul id={`${id}-list`} role="listbox" aria-label="Tools" ref={list}>
          {tools.map((it, index) => (
            // The pointer is pressed before the field loses its focus, so that the list is still there.
            <li
              key={it.id}
              id={`${id}-${index}`}
              role="option"
              aria-selected={index === chosen}
              onMouseDown={(event) => {
                event.preventDefault();
                choose(it);
              }}
            >
              <span class="picker-name">
                <code>{it.id}</code> <RiskBadge risk={it.risk_level} />
              </span>
              <span class="soft small">{it.description}</span>
            </li>
          ))}
        </ul>
        {tools.length > 0 ? null : (
          <p class="soft" role="status">
            {found.error !== undefined ? found.error.message : found.loading ? "Searching…" : `No tool has the words “${words}”.`}
          </p>
        )}
      </div>
    </div>
  );
}
