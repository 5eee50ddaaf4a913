/** The time for the gateway, for pages that say how long something still takes: it moves on every second while the page is open. */
import { useEffect, useState } from "react";
import { gatewayNow } from "../base/clock.ts";

const everyMs = 1000;

export function useNow(): Date {
  const [now, setNow] = useState(gatewayNow);
  useEffect(() => {
    const timer = setInterval(() => setNow(gatewayNow()), everyMs);
    return () => clearInterval(timer);
  }, []);
  return now;
}
