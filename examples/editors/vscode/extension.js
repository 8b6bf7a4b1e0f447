// Starts `prose lsp` for Markdown and .prose files. The server itself passes over Markdown that is no spec.
const { window, workspace } = require("vscode");
const { LanguageClient } = require("vscode-languageclient/node");

let client;

async function activate(context) {
  const [command, ...args] = workspace.getConfiguration("prose").get("command");
  client = new LanguageClient(
    "prose",
    "prose-runtime",
    { command, args },
    {
      documentSelector: [
        { scheme: "file", language: "markdown" },
        { scheme: "file", language: "prosescript" },
      ],
      synchronize: { fileEvents: workspace.createFileSystemWatcher("**/{*.md,*.prose,prose.yml}") },
    },
  );
  try {
    await client.start();
  } catch (error) {
    window.showErrorMessage(
      `prose-runtime: \`${[command, ...args].join(" ")}\` does not start (${error.message}). ` +
        "Install it with: pip install 'prose-runtime[lsp]', or set prose.command to its path.",
    );
  }
}

function deactivate() {
  return client?.stop();
}

module.exports = { activate, deactivate };
