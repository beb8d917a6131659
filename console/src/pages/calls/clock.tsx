// The time of a call in the log, to the second. The day is told if it is not today.

export function Clock({ at }: { at: string }) {
  const moment = new Date(at);
  const time = moment.toLocaleTimeString([], { hour: "2-digit", minute: "2-digit", second: "2-digit" });
  const isToday = moment.toDateString() === new Date().toDateString();
  return (
    <time dateTime={at} title={moment.toLocaleString()}>
      {isToday ? time : `${moment.toLocaleDateString([], { month: "short", day: "numeric" })} ${time}`}
    </time>
  );
}
