// What the operating system knows about the workerd processes that the benchmark has started.

import { readFileSync } from "node:fs";

const TICKS_A_SECOND = 100;

/** The CPU seconds of all of them. */
export function cpuSeconds() {
  return sum((pid) => {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return (Number(fields[11]) + Number(fields[12])) / TICKS_A_SECOND;
  });
}

/** The bytes of memory that all of them have now (`VmRSS`), or had at most (`VmHWM`). */
export function memory(field = "VmRSS") {
  return sum((pid) => {
    const status = readFileSync(`/proc/${pid}/status`, "utf8");
    return 1024 * Number(new RegExp(`^${field}:\\s+(\\d+) kB`, "m").exec(status)[1]);
  });
}

function sum(figure) {
  let sum = 0;
  for (const pid of descendants(process.pid)) {
    try {
      if (readFileSync(`/proc/${pid}/comm`, "utf8").trim() === "workerd") sum += figure(pid);
    } catch {
      // The process has ended.
    }
  }
  return sum;
}

function descendants(pid) {
  try {
    const children = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim().split(" ").filter(Boolean);
    return children.flatMap((child) => [child, ...descendants(child)]);
  } catch {
    return [];
  }
}
