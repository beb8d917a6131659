// A module in JavaScript, without packages: node samples/modules/dice.mjs 8802
import { createServer } from "node:http";

const tools = [
  {
    name: "roll",
    description: "Roll dice, and return each of them and their sum",
    parameters: {
      type: "object",
      properties: { count: { type: "integer", minimum: 1, maximum: 100, default: 1 }, sides: { type: "integer", minimum: 2, default: 6 } },
    },
    returns_schema: { type: "object", properties: { dice: { type: "array" }, sum: { type: "integer" } }, required: ["dice", "sum"] },
  },
];

const run = {
  "dice.roll": ({ count, sides }) => {
    const dice = Array.from({ length: count }, () => 1 + Math.floor(Math.random() * sides));
    return { dice, sum: dice.reduce((one, other) => one + other) };
  },
};

async function execute(request) {
  let body = "";
  for await (const piece of request) body += piece;
  const { tool_name, arguments: given } = JSON.parse(body);
  try {
    return { tool_name, success: true, result: run[tool_name](given), error: null };
  } catch (cause) {
    return { tool_name, success: false, result: null, error: String(cause) };
  }
}

createServer(async (request, response) => {
  const answer = request.method === "POST" ? await execute(request) : { tools };
  response.writeHead(200, { "Content-Type": "application/json" }).end(JSON.stringify(answer));
}).listen(Number(process.argv[2]), "127.0.0.1");
