/** The Mantine theme: one type scale, one spacing scale, two accents. tokens.css has the colours. */
import {
  createTheme,
  defaultVariantColorsResolver,
  type CSSVariablesResolver,
  type MantineColorsTuple,
  type VariantColorsResolver,
} from "@mantine/core";

const tuple = (...colors: readonly string[]) => colors as unknown as MantineColorsTuple;

/** The text colour on the filled accent. Mantine derives it from the light scheme, which gives white on light blue in the dark one. */
const variantColors: VariantColorsResolver = (input) => {
  const colors = defaultVariantColorsResolver(input);
  const isAccent = input.color === undefined || input.color === input.theme.primaryColor;
  return input.variant === "filled" && isAccent
    ? { ...colors, color: "var(--mantine-primary-color-contrast)" }
    : colors;
};

export const theme = createTheme({
  variantColorResolver: variantColors,
  primaryColor: "blue",
  primaryShade: { light: 7, dark: 3 },
  colors: {
    blue: tuple(
      "#eef6fd",
      "#d6eaff",
      "#a9d3fa",
      "#6cb6f5",
      "#3f97dd",
      "#2a82c9",
      "#1970b6",
      "#0b5fa5",
      "#094e88",
      "#08345c",
    ),
    // Fields, borders and overlays in the dark scheme: the tones of tokens.css.
    dark: tuple(
      "#e6e9ed",
      "#c6ccd3",
      "#a3adb8",
      "#727c88",
      "#3a424d",
      "#2c323b",
      "#1c2027",
      "#15181d",
      "#0f1216",
      "#0b0d10",
    ),
  },
  autoContrast: true,
  fontFamily: '"Inter Variable", system-ui, sans-serif',
  fontFamilyMonospace: "ui-monospace, SFMono-Regular, Menlo, Consolas, monospace",
  fontSizes: { xs: "12px", sm: "13px", md: "14px", lg: "16px", xl: "20px" },
  lineHeights: { xs: "16px", sm: "18px", md: "20px", lg: "24px", xl: "28px" },
  spacing: { xs: "4px", sm: "8px", md: "12px", lg: "16px", xl: "24px" },
  radius: { sm: "4px", md: "8px" },
  defaultRadius: "sm",
  headings: { sizes: { h1: { fontSize: "20px", fontWeight: "650", lineHeight: "28px" } } },
  cursorType: "pointer",
  respectReducedMotion: true,
  components: {
    Button: { defaultProps: { size: "sm" } },
    // Only panels animate, not controls with text.
    SegmentedControl: { defaultProps: { transitionDuration: 0 } },
    Table: { defaultProps: { borderColor: "var(--line)" } },
    // In our forms each field is required unless it says otherwise.
    InputWrapper: { defaultProps: { withAsterisk: false } },
  },
});

/** Maps Mantine's CSS variables to our tokens. */
export const cssVariablesResolver: CSSVariablesResolver = () => {
  const both = {
    "--mantine-color-body": "var(--ground)",
    "--mantine-color-text": "var(--text)",
    "--mantine-color-dimmed": "var(--muted)",
    "--mantine-color-placeholder": "var(--muted)",
    "--mantine-color-default": "var(--raised)",
    "--mantine-color-default-border": "var(--line-strong)",
    "--mantine-color-error": "var(--bad)",
    "--mantine-color-anchor": "var(--accent)",
    "--mantine-primary-color-filled": "var(--accent)",
    "--mantine-primary-color-contrast": "var(--on-accent)",
    "--mantine-color-disabled-color": "var(--muted)",
  };
  return { variables: {}, light: both, dark: both };
};
