import type { PageProps } from "../../routes.tsx";
import { ApprovalList } from "./list.tsx";
import { OneApproval } from "./one.tsx";

export default function Approvals({ path: [id] }: PageProps) {
  return id === undefined ? <ApprovalList /> : <OneApproval key={id} id={id} />;
}
