/** The gateway's time, updated every second while the page is open: for pages that show remaining time. */
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
