// A chat with an agent: AI SDK's useChat as it is, pointed at a session of the playground. README.md tells how to run it.
import { useChat } from "@ai-sdk/react";
import { DefaultChatTransport, lastAssistantMessageIsCompleteWithApprovalResponses } from "ai";
import { createRoot } from "react-dom/client";

const given = { url: "http://127.0.0.1:8787", workspace: "demo", session: "page" };
Object.assign(given, Object.fromEntries(new URLSearchParams(location.search)));
const transport = new DefaultChatTransport({
  api: `${given.url}/api/playground/sessions/${given.session}/chat`,
  headers: { "X-Workspace-Id": given.workspace },
  body: { agentId: given.agent },
});

function Call({ part, decide }) {
  const waits = part.state === "approval-requested";
  return <details open={waits}>
    <summary>{part.toolName}: {part.state}</summary>
    <pre>{JSON.stringify(part.output ?? part.errorText ?? part.input, null, 2)}</pre>
    {waits && <button onClick={() => decide({ id: part.approval.id, approved: true })}>Approve</button>}
    {waits && <button onClick={() => decide({ id: part.approval.id, approved: false })}>Deny</button>}
  </details>;
}

function Chat() {
  const { messages, sendMessage, regenerate, addToolApprovalResponse, status, error } = useChat({
    transport, resume: true, sendAutomaticallyWhen: lastAssistantMessageIsCompleteWithApprovalResponses,
  });
  const busy = status === "submitted" || status === "streaming";
  const last = messages.at(-1);
  const send = (event) => {
    event.preventDefault();
    sendMessage({ text: event.target.text.value });
    event.target.reset();
  };
  return <main>
    {messages.map(({ id, role, parts }) => <section key={id}><b>{role}</b>
      {parts.map((part, at) => part.type === "text" ? <p key={at}>{part.text}</p>
        : part.type === "dynamic-tool" && <Call key={at} part={part} decide={addToolApprovalResponse} />)}
    </section>)}
    {last?.role === "assistant" && <button disabled={busy} onClick={() => regenerate({ messageId: last.id })}>Again</button>}
    {error && <p role="alert">{error.message}</p>}
    <form onSubmit={send}>
      <input name="text" aria-label="Message" autoFocus required />
      <button disabled={busy}>Send</button>
    </form>
  </main>;
}

createRoot(document.getElementById("chat")).render(<Chat />);
