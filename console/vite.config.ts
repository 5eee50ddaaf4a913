/** How the console is built: scripts/console.mjs runs it. docs/console.md. */
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import react from "@vitejs/plugin-react";
import { defineConfig, type Plugin } from "vite";

/** The script that sets the colour scheme: loaded at once, where a module would wait for the page. */
function themeBoot(): Plugin {
  const source = readFileSync(new URL("theme-boot.js", import.meta.url), "utf8");
  const hash = createHash("sha256").update(source).digest("hex").slice(0, 8);
  const fileName = `assets/theme-boot-${hash}.js`;
  return {
    name: "theme-boot",
    transformIndexHtml: () => [
      { tag: "script", attrs: { src: `/${fileName}` }, injectTo: "head-prepend" },
    ],
    generateBundle() {
      this.emitFile({ type: "asset", fileName, source });
    },
  };
}

/**
 * Which modules share a file. Left to itself the bundler makes a file of whatever two pages share: forty for the first page, half
 * of them of less than 2 kB, each asked for by itself and packed by itself. What six parts use comes with the first page, whose
 * budget has room for it; what fewer use stands with what much the same parts use. test/console/budgets.test.ts counts both.
 */
const codeSplitting = {
  groups: [
    { name: "first", tags: ["$initial" as const], priority: 2 },
    // Small ones that a part with a small budget uses beside those of larger parts.
    {
      name: "common",
      test: /@mantine.hooks|src.base.ids\.|src.ui.(?:model-link|part|use-today|audit-entries|secret|clear-filters|leave-guard)\./,
      priority: 1,
    },
    { name: "common", minShareCount: 6, priority: 1 },
    { name: "shared", minShareCount: 2, entriesAware: true, entriesAwareMergeThreshold: 2_500 },
  ],
};

export default defineConfig({
  root: import.meta.dirname,
  configFile: false,
  plugins: [react(), themeBoot()],
  // Replaced in each answer by one that is used once (src/http/console).
  html: { cspNonce: "CSP_NONCE" },
  build: {
    target: "es2023",
    // The policy allows no `data:` addresses.
    assetsInlineLimit: 0,
    manifest: "manifest.json",
    modulePreload: { polyfill: false },
    chunkSizeWarningLimit: 800,
    reportCompressedSize: false,
    rolldownOptions: { output: { codeSplitting } },
  },
});
