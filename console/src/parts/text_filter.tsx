// A filter of a list that is a text. The text reaches the URL when the person pauses, so that not every letter is a request.

import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { query, setQuery } from "../location.ts";
import { TextField } from "./field.tsx";

/** How long the person must not type before the list is asked for. */
const PAUSE_MS = 300;

interface TextFilterProps {
  /** The parameter of the URL. */
  name: string;
  label: string;
  type?: "text" | "search";
  hint?: ComponentChildren;
  placeholder?: string;
  wide?: boolean;
}

export function TextFilter({ name, type = "search", ...shown }: TextFilterProps) {
  const inUrl = query.value.get(name) ?? "";
  const [text, setText] = useState(inUrl);
  const known = useRef(inUrl);
  // The search field of the bar and the way back change the URL, too.
  useEffect(() => {
    if (inUrl === known.current) return;
    known.current = inUrl;
    setText(inUrl);
  }, [inUrl]);
  useEffect(() => {
    const value = text.trim();
    if (value === known.current) return;
    const timer = setTimeout(() => {
      known.current = value;
      setQuery({ [name]: value });
    }, PAUSE_MS);
    return () => clearTimeout(timer);
  }, [text, name]);
  return <TextField {...shown} type={type} value={text} onChange={setText} />;
}
