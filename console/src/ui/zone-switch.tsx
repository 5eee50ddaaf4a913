/** Switches times between UTC and the reader's time zone. */
import { Button } from "@mantine/core";
import { useZone } from "./zone.ts";

export function ZoneSwitch() {
  const [zone, choose] = useZone();
  const isUtc = zone === "utc";
  return (
    <Button
      size="xs"
      variant="default"
      flex="none"
      visibleFrom="sm"
      aria-pressed={isUtc}
      title={isUtc ? "Times are in UTC" : "Times are in your zone"}
      onClick={() => choose(isUtc ? "local" : "utc")}
    >
      UTC
    </Button>
  );
}
