/** The time, for pages that say how long something still takes: it moves on every second while the page is open. */
import { useEffect, useState } from "react";

const everyMs = 1000;

export function useNow(): Date {
  const [now, setNow] = useState(() => new Date());
  useEffect(() => {
    const timer = setInterval(() => setNow(new Date()), everyMs);
    return () => clearInterval(timer);
  }, []);
  return now;
}
