// Puts a file into an R2 bucket, compressed. The contents cross once, and only the size of the file crosses back.

/** Returns the size of the compressed file. */
export async function put(bucket, key, contents) {
  const packed = await new Response(new Blob([contents]).stream().pipeThrough(new CompressionStream("gzip"))).arrayBuffer();
  await bucket.put(key, packed, { httpMetadata: { contentType: "application/gzip" } });
  return packed.byteLength;
}
