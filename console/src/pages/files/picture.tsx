// A picture out of bytes. The policy allows pictures of blob URLs; an SVG in an img runs no scripts.

import { useEffect, useState } from "preact/hooks";

export function Picture({ bytes, type, name }: { bytes: ArrayBuffer; type: string; name: string }) {
  const [url, setUrl] = useState("");
  const [isBroken, setBroken] = useState(false);
  useEffect(() => {
    const made = URL.createObjectURL(new Blob([bytes], { type }));
    setUrl(made);
    setBroken(false);
    return () => URL.revokeObjectURL(made);
  }, [bytes, type]);
  if (url === "") return null;
  if (isBroken) return <p class="soft">The browser cannot show {name} as a picture.</p>;
  return <img class="picture" src={url} alt={name} onError={() => setBroken(true)} />;
}
