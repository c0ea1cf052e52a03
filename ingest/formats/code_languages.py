"""Maps file names to programming and configuration languages."""

from pathlib import PurePosixPath

# Each line: the language tag of a Markdown code fence, then its file name suffixes.
_LANGUAGES = """
python .py .pyi .pyw .pyx .pxd .gd .bzl .star .sage
javascript .js .mjs .cjs
jsx .jsx
typescript .ts .mts .cts
tsx .tsx
vue .vue
svelte .svelte
java .java
kotlin .kt .kts
scala .scala .sc .sbt
groovy .groovy .gradle
clojure .clj .cljs .cljc .edn
c .c .h
cpp .cc .cpp .cxx .c++ .hh .hpp .hxx .h++ .ipp .tpp .inl .ino .cu .cuh
glsl .glsl .vert .frag .hlsl .wgsl .metal
d .d
csharp .cs .csx
fsharp .fs .fsi .fsx
vb .vb .vbs .bas .cls
go .go
rust .rs
swift .swift
objectivec .m .mm
dart .dart
ruby .rb .rake .gemspec .podspec .ru
crystal .cr
php .php .phtml
perl .pl .pm .xs
lua .lua
r .r
julia .jl
haskell .hs .lhs
ocaml .ml .mli
elixir .ex .exs
gleam .gleam
elm .elm
erlang .erl .hrl
lisp .lisp .cl .el .scm .rkt .hy
fortran .f .f90 .f95 .f03 .f08 .for
ada .adb .ads
pascal .pas .pp .dpr
cobol .cob .cbl
asm .asm .s
zig .zig
nim .nim
solidity .sol
bash .sh .bash .zsh .ksh .fish .bats .ebuild
awk .awk
tcl .tcl
vim .vim
nix .nix
powershell .ps1 .psm1 .psd1
batch .bat .cmd
sql .sql .ddl .pgsql .plsql .pks .pkb
prisma .prisma
rego .rego
graphql .graphql .gql
protobuf .proto
thrift .thrift
css .css
scss .scss
sass .sass
less .less
yaml .yaml .yml
toml .toml
ini .ini .cfg .conf .properties .env .editorconfig .service .timer .socket .desktop
hcl .tf .tfvars .hcl .nomad
dockerfile .dockerfile
makefile .mk .mak
cmake .cmake
meson .meson
diff .diff .patch
jinja .j2 .jinja .jinja2
handlebars .hbs .mustache
verilog .v .sv
vhdl .vhd .vhdl
"""
_NAMES = {
    "dockerfile": "dockerfile",
    "containerfile": "dockerfile",
    "makefile": "makefile",
    "gnumakefile": "makefile",
    "cmakelists.txt": "cmake",
    "jenkinsfile": "groovy",
    "gemfile": "ruby",
    "rakefile": "ruby",
    "vagrantfile": "ruby",
    "podfile": "ruby",
    "fastfile": "ruby",
    "brewfile": "ruby",
    "guardfile": "ruby",
    "build.bazel": "python",
    "module.bazel": "python",
    "sconstruct": "python",
    "meson.build": "meson",
    "justfile": "makefile",
    "go.mod": "go",
    ".gitignore": "ini",
    ".dockerignore": "ini",
    ".gitattributes": "ini",
    ".npmrc": "ini",
    ".bashrc": "bash",
    ".zshrc": "bash",
    ".profile": "bash",
}
BY_SUFFIX = {
    suffix: language
    for language, *suffixes in map(str.split, _LANGUAGES.strip().splitlines())
    for suffix in suffixes
}
"""Language by lower-case file name suffix."""


def language_of(name: str | None) -> str | None:
    """The language of a file by its name; None if it is not source code."""
    path = PurePosixPath((name or "").replace("\\", "/"))
    return _NAMES.get(path.name.lower()) or BY_SUFFIX.get(path.suffix.lower())
