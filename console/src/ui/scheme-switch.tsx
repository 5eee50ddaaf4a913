/** Dark or light; what is chosen stays chosen in this browser. */
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
