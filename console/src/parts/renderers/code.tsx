// The renderer `code`: a text with colours.

import { Editor } from "../editor/index.tsx";
import { COLOURED_CHARACTERS } from "../editor/texts.ts";
import { Text } from "../values.tsx";
import { type Plan, languageIn } from "./plan.ts";
import { type ShownCall, titleOf } from "./raw.tsx";
import { TextView } from "./text_view.tsx";

export function CodeRenderer({ plan, call }: { plan: Plan; call: ShownCall }) {
  return (
    <TextView plan={plan} call={call}>
      {(text, path) => <CodeText plan={plan} path={path} text={text} label={titleOf(call)} />}
    </TextView>
  );
}

function CodeText({ plan, path, text, label }: { plan: Plan; path: string | null; text: string; label: string }) {
  if (text === "") return <p class="soft">The text is empty.</p>;
  const language = languageIn(plan.config, path, text);
  // A plain text gains nothing from the editor.
  if (language === "text" || text.length > COLOURED_CHARACTERS) return <Text text={text} label={label} />;
  return <Editor value={text} language={language} readOnly label={label} />;
}
