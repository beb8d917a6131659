// A value that changes often, such as a text that is being typed: a request for each letter would be too many.

import { useEffect, useState } from "preact/hooks";

/** The value after it has not changed for some time. */
export function useSettled(value: string, pause = 300): string {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), pause);
    return () => clearTimeout(timer);
  }, [value, pause]);
  return settled;
}
