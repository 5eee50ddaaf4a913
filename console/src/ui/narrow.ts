/** Phones: below this width tables have rows of two lines, tabs are lists to choose from, and the menu is at the bottom. */
import { useMediaQuery } from "@mantine/hooks";

export const useNarrow = (): boolean =>
  useMediaQuery("(max-width: 767px)", false, { getInitialValueInEffect: false });
