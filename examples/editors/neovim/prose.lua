-- Neovim 0.11 or newer: put this file into ~/.config/nvim/lua/ and write require("prose") into init.lua.
vim.filetype.add({ extension = { prose = "prosescript" } })

-- The server passes over Markdown that is no spec.
vim.lsp.config("prose", {
  cmd = { "prose", "lsp" },
  filetypes = { "markdown", "prosescript" },
  root_markers = { "prose.yml", ".git", "pyproject.toml" },
})
vim.lsp.enable("prose")

-- There is no tree-sitter grammar for ProseScript; Python's colours its words, strings and comments well enough.
vim.treesitter.language.register("python", { "prose", "prosescript" })
