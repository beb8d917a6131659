// A bare Worker that makes two D1 round trips, reads the stream of the model's server piece by piece and passes it on, and does
// nothing else. It shows what workerd itself takes for that.

export default {
  async fetch(request, env) {
    const body = await request.text();
    await env.DB.prepare("SELECT 1").all();
    await env.DB.prepare("INSERT INTO workspace_usage (workspace_id, files_bytes, calls_bytes) VALUES ('bare', 0, 1) ON CONFLICT (workspace_id) DO UPDATE SET calls_bytes = calls_bytes + 1").run();
    const answer = await fetch(`${env.MODEL_URL}/chat/completions`, { method: "POST", body });
    const { readable, writable } = new TransformStream();
    const writer = writable.getWriter();
    (async () => {
      for await (const piece of answer.body) await writer.write(piece);
      await writer.close();
    })();
    return new Response(readable, { headers: { "content-type": "text/event-stream" } });
  },
};
