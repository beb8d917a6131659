// Shows what the browser does not let the page copy, so that the person can copy it.

import { Button } from "./button.tsx";
import { uncopied } from "./clipboard.tsx";
import { Dialog } from "./dialog.tsx";
import { Field } from "./field.tsx";

export function CopyByHand() {
  const text = uncopied.value;
  if (text === null) return null;
  const close = () => (uncopied.value = null);
  return (
    <Dialog title="Copy it by hand" close={close}>
      <p>The browser did not let this page copy. Most browsers refuse it to pages that come by plain http from another machine.</p>
      <Field label="Text to copy">{(control) => <textarea {...control} class="mono" rows={6} readOnly value={text} onFocus={(event) => event.currentTarget.select()} />}</Field>
      <div class="dialog-foot">
        <Button onClick={close}>Close</Button>
      </div>
    </Dialog>
  );
}
