// What a workspace's name and a token look like. A browser refuses to send anything else in a header, which would look as if
// Pegboard could not be reached. Pure.

export const isWorkspaceName = (name: string): boolean => /^[A-Za-z0-9_-]{1,64}$/.test(name);

/** Whether the text can be sent as a token. No text means no token. */
export const isToken = (text: string): boolean => /^[\x21-\x7e]*$/.test(text);
