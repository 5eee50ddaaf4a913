/** True on phones: below this width, tables have two-line rows, tabs become a select, and the menu is at the bottom. */
import { useMediaQuery } from "@mantine/hooks";

export const useNarrow = (): boolean =>
  useMediaQuery("(max-width: 767px)", false, { getInitialValueInEffect: false });
