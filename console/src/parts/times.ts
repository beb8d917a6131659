// Times between the URL, which has them in UTC, and a field of the form, which has them in local time. Pure.

/** The value of a datetime-local field for a time; "" for what is no time. */
export function localOf(utc: string): string {
  const at = new Date(utc);
  if (Number.isNaN(at.getTime())) return "";
  const two = (number: number) => String(number).padStart(2, "0");
  return `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())}T${two(at.getHours())}:${two(at.getMinutes())}:${two(at.getSeconds())}`;
}

/** The time of a datetime-local field in UTC; "" for what is no time. */
export function utcOf(local: string): string {
  const at = new Date(local);
  return local === "" || Number.isNaN(at.getTime()) ? "" : at.toISOString();
}
