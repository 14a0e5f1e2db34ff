// Refused bodies with Node's fetch: the same plan and output as refusals.py.
//   node refusals.mjs BASE_URL BODY_MB METHOD:PATH:FRAMING:STATUS...
const [base, megabytes, ...plans] = process.argv.slice(2);
const block = Buffer.from("1.5,2.5,3.5,x\n".repeat(4681));

function stream(total) {
  let left = total;
  return new ReadableStream({
    pull(controller) {
      if (left <= 0) return controller.close();
      controller.enqueue(block.subarray(0, Math.min(left, block.length)));
      left -= block.length;
    },
  });
}

async function attempt(method, path, framing, status) {
  const total = Number(megabytes) << 20;
  // fetch sends a stream chunked, a buffer with its Content-Length
  const body = framing === "chunked" ? stream(total) : Buffer.alloc(total, block);
  const answer = await fetch(base + path, {
    method, body, duplex: "half", headers: { "Content-Type": "text/csv" }, signal: AbortSignal.timeout(60000),
  });
  const text = await answer.text();
  if (answer.status !== status) return `status ${answer.status} instead of ${status}: ${text.slice(0, 200)}`;
  const kind = answer.headers.get("content-type");
  if (kind !== "application/problem+json" || JSON.parse(text).status !== status) return `no problem document: ${kind} ${text.slice(0, 200)}`;
  const next = await fetch(base + "/healthz");
  await next.text();
  return next.status === 200 ? null : "the next request was not served";
}

for (const plan of plans) {
  const [method, path, framing, status] = plan.split(":");
  let fault;
  try {
    fault = await attempt(method, path, framing, Number(status));
  } catch (error) {
    fault = `${error} ${error.cause ?? ""}`;
  }
  console.log(fault === null ? "ok" : `not ok ${fault}`.replaceAll("\n", " "));
}
