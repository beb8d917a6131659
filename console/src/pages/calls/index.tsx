import type { PageProps } from "../../routes.tsx";
import { Log } from "./log.tsx";
import { OneCall } from "./one_call.tsx";

export default function Calls({ path: [id] }: PageProps) {
  return id === undefined ? <Log /> : <OneCall key={id} id={id} />;
}
