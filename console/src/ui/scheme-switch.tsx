/** Switches between dark and light; the browser keeps the choice. */
import { Button, useComputedColorScheme, useMantineColorScheme } from "@mantine/core";

export function SchemeSwitch() {
  const { setColorScheme } = useMantineColorScheme();
  const other = useComputedColorScheme("light") === "light" ? "dark" : "light";
  return (
    <Button size="xs" variant="default" flex="none" onClick={() => setColorScheme(other)}>
      {other === "dark" ? "Dark" : "Light"}
    </Button>
  );
}
