// The search field of the bar. `/` goes there from everywhere.

import { useSignal } from "@preact/signals";
import { go } from "./location.ts";

export function Finder() {
  const words = useSignal("");
  const submit = (event: Event) => {
    event.preventDefault();
    go(["tools"], { q: words.value.trim() });
  };
  return (
    <form class="finder" role="search" onSubmit={submit}>
      <input id="finder" type="search" placeholder="Search tools ( / )" aria-label="Search tools" value={words.value} onInput={(event) => (words.value = event.currentTarget.value)} />
    </form>
  );
}
