"""Source code: chunks know the classes and functions that they are in."""

from itertools import pairwise

import pytest

from ingest.chunking.chunk import chunk
from ingest.chunking.definitions import read_definitions
from tests.support.chunk_checks import CL100K, assert_sound, document

PYTHON = '''import os

@decorated
class Ledger(Base):
    limit = 1

    # what it says
    @property
    def total(self):
        """Text that
is not indented
"""
        return 1

    async def post(self):
        def inner():
            pass

CONSTANT = 1
def main(): pass
'''
JAVA = """package a.b;
public class Ledger<T> extends Book {
    private int x = find(1);
    @Override
    public static <T> List<String> find(int a,
            String b) throws Lost {
        if (x) {
            foo(1);
        }
        return bar(2);
    }

    Ledger() {
    }
}
"""
C = """#include <x.h>
static int total(int argc, char **argv)
{
  printf("x");
#ifdef A
  again:
  return 0;
}
struct point { int x; };
"""
CPP = """class Ledger {
public:
  Ledger();
  void post() const {
    call(1);
  }
};
void Ledger::close(int a) {
}
"""
GO = """package x

type Ledger struct {
\tA int
}

// Post does
func (l *Ledger) Post(a int) error {
\treturn nil
}

func main() {
}
"""
TYPESCRIPT = """export class Ledger {
  private x = 1;
  async load(id: string): Promise<void> {
    if (id) {
    }
    each(() => {
    });
  }
}
export const post = async (a: number) => {
};
describe('x', () => {
});
"""
CSHARP = """namespace Books
{
    public class Ledger
    {
        public async Task<int> Post(int x)
        {
            var y = Find(x);
        }
    }
}
"""


@pytest.mark.parametrize(
    ("language", "code", "expected"),
    [
        ("python", PYTHON, "1 Ledger, 2 total, 2 post, 3 inner, 1 , 1 main"),
        ("java", JAVA, "1 Ledger, 2 find, 2 Ledger"),
        ("c", C, "1 total, 1 point"),
        ("cpp", CPP, "1 Ledger, 2 post, 1 Ledger::close"),
        ("go", GO, "1 Ledger, 1 Ledger.Post, 1 main"),
        ("typescript", TYPESCRIPT, "1 Ledger, 2 load, 1 post, 1 "),
        ("csharp", CSHARP, "1 Books, 2 Ledger, 3 Post"),
        (
            "csharp",
            "class A\n{\n    int F(int x)\n    {\n    }\n    public int Sum\n    {\n        get;\n"
            "    }\n    private int y;\n}",
            "1 A, 2 F, 2 Sum, 2 ",
        ),
        ("java", "class A {\n    int f() {\n    }\n    private int y;\n}", "1 A, 2 f, 2 "),
        (
            "cpp",
            "enum class A { B };\nclass C {\n  C& operator=(const C& c) {\n  }\n"
            "  bool operator()(int a) {\n  }\n};",
            "1 A, 1 C, 2 operator=, 2 operator",
        ),
        ("kotlin", "enum class A { B }", "1 A"),
        (
            "tsx",
            "const Card: React.FC<Props> = ({ a }) => {\n};\n"
            "const B = memo<Props>((x) => {\n});\n"
            "export const api: Api = {\n  get(id: string) {\n  },\n};\n"
            "const y = list.map((x) => x);",
            "1 Card, 1 B, 1 api, 2 get, 1 ",
        ),
        (
            "go",
            "type (\n\tA struct {\n\t\tX int\n\t}\n)\nvar f = func(x int) {\n}\n",
            "1 A, 1 f",
        ),
        (
            "python",
            "class A:\n    def f(self):\n        pass\n\nif B:\n    def g():\n        pass\n",
            "1 A, 2 f, 1 , 1 g",
        ),
        ("cpp", "class A {\n public:\n  int f(int x) {\n  }\n private:\n};", "1 A, 2 f"),
        (
            "rust",
            "impl<T> Post for Ledger {\n    pub fn new() -> Self {\n    }\n}",
            "1 Ledger, 2 new",
        ),
        ("kotlin", "data class A(val x: Int) {\n    suspend fun f() {\n    }\n}", "1 A, 2 f"),
        ("swift", "struct S {\n    init(x: Int) {\n    }\n    func f() {}\n}", "1 S, 2 init, 2 f"),
        ("scala", "object A {\n  def f(x: Int) = 1\n}\ncase class B(x: Int)", "1 A, 2 f, 1 B"),
        ("php", "<?php\nclass A {\n    public function f($x) {\n    }\n}", "1 A, 2 f"),
        ("ruby", "module M\n  class A < B\n    def ok?\n    end\n  end\nend", "1 M, 2 A, 3 ok?"),
        ("dart", "class A {\n  Future<void> f(int x) async {\n  }\n}", "1 A, 2 f"),
        ("objectivec", "@implementation A\n- (void)f:(int)x {\n}\n@end", "1 A, 1 f"),
        ("lua", "local function f(x)\nend\nM.g = function(x)\nend", "1 f, 1 M.g"),
        ("perl", "package A::B;\nuse C;\nsub f {\n  my $x;\n}\n1;", "1 A::B, 2 f, 2 "),
        ("php", "<?php\nnamespace A\\B;\nuse C;\nclass D {\n}", "1 A, 2 D"),
        ("csharp", "namespace A.B;\npublic class D {\n}", "1 A.B, 2 D"),
        ("bash", "set -e\nf() {\n  x\n}\nfunction g {\n}", "1 f, 1 g"),
        ("powershell", "function Get-It {\n}", "1 Get-It"),
        ("r", "f <- function(x) {\n  x\n}", "1 f"),
        ("julia", "function f(x)\nend\ng(x) = 1", "1 f, 1 g"),
        ("haskell", "module A where\nf :: Int -> Int\nf x = x", "1 A, 1 f"),
        ("ocaml", "let rec f x = 1\nmodule M = struct\nend", "1 f, 1 M"),
        ("elixir", "defmodule A.B do\n  def f(x) do\n  end\nend", "1 A.B, 2 f"),
        ("erlang", "f(X) ->\n  X.\ng() -> ok.", "1 f, 1 g"),
        ("clojure", "(defn f [x]\n  x)", "1 f"),
        ("lisp", "(defun f (x)\n  x)\n(define (g x)\n  x)", "1 f, 1 g"),
        ("vb", "Public Class A\n    Private Sub F()\n    End Sub\nEnd Class", "1 A, 2 F"),
        ("pascal", "procedure TForm.Open(x: Integer);\nbegin\nend;", "1 TForm.Open"),
        ("fortran", "      SUBROUTINE FOO(X)\n      END", "1 FOO"),
        ("zig", "pub fn main() void {\n}\nconst S = struct {\n};", "1 main, 1 S"),
        ("nim", "proc f(x: int): int =\n  x", "1 f"),
        ("solidity", "contract A {\n  function f() public {\n  }\n}", "1 A, 2 f"),
        ("protobuf", "service B {\n  rpc F(A) returns (A);\n}", "1 B, 2 F"),
        (
            "sql",
            "CREATE TABLE a.b (\n  x int\n);\ncreate or replace function f() as $$\nbegin\nend $$;",
            "1 a.b, 1 f",
        ),
        (
            "yaml",
            "v: 1\non:\n  push:\n    x: [a]\njobs:\n  # c\n  build:\n    steps:\n      - run: |\n"
            "          cd x\n      - uses: y\n---\nkind: A",
            "1 on, 2 push, 1 jobs, 2 build, 3 steps, 4 run, 4 , 1 ",
        ),
        ("toml", 'a = 1\n[tool.x]\nb = [\n  "c",\n]\n[[bin]]\n', "1 tool.x, 1 bin"),
        ("ini", "[a b]\nx = [y]\n[c] ; d\n", "1 a b, 1 c"),
        (
            "hcl",
            'resource "a_b" "c" {\n  tags = {\n  }\n  d {\n  }\n}\nvariable "e" {}\nlocals {\n}',
            "1 resource.a_b.c, 1 variable.e, 1 locals",
        ),
        (
            "kotlin",
            "fun <T : Comparable<T>> f(x: T) {\n}\nclass A {\n    @Test\n    fun `it works`() {\n"
            "    }\n}\nprivate fun <T> List<T>.swap(i: Int) {\n}\nfun interface B {\n}",
            "1 f, 1 A, 2 it works, 1 List.swap, 1 B",
        ),
        (
            "elixir",
            'defmodule A do\n  @doc """\n  Say:\n\n      def no(x) do\n      end\n  """\n'
            "  def f(x) do\n  end\nend",
            "1 A, 2 f",
        ),
        ("dart", "class A {\n  int get n => 1;\n  test('x', () {\n  });\n}", "1 A, 2 n, 2 "),
        ("haskell", "instance Show a => Show (T a) where\n  show x = 1\n", "1 Show"),
        ("r", 'setMethod("show", "A", function(x) {\n})\nB <- R6::R6Class("B")', "1 show, 1 B"),
        ("vb", "''' <summary>\nSub F()\nEnd Sub", "1 F"),
        ("sql", "select '''' as q;\ncreate view v as select 1;", "1 v"),
        ("css", "a {\n  b: 1\n}", ""),
    ],
)
def test_definitions_are_found(language: str, code: str, expected: str) -> None:
    found = read_definitions(code, 0, len(code), language, level=0)

    assert ", ".join(f"{one.level} {one.title}" for one in found) == expected


def test_a_definition_begins_with_its_comments_and_decorators() -> None:
    found = read_definitions(PYTHON, 0, len(PYTHON), "python", level=1)

    assert PYTHON[found[0].start :].startswith("@decorated")
    assert PYTHON[found[1].start :].lstrip().startswith("# what it says")


def methods(count: int) -> str:
    return "".join(
        f"    def helper_{n}(self, x):\n        y = x * {n}\n        return y + {n} + x\n\n"
        for n in range(count)
    )


@pytest.mark.parametrize("title", ["", "# ledger.py\n\n"])
def test_chunks_of_code_name_their_class_and_function(title: str) -> None:
    text = f"{title}```python\nclass Ledger:\n{methods(30)}x = 1\n```"

    chunks = chunk(document(text), tokenizer=CL100K, size=96, overlap=24)

    assert_sound(text, chunks, tokenizer=CL100K, size=96)
    path = ("ledger.py", "Ledger") if title else ("Ledger",)
    for one in chunks[1:]:
        body = one.text.removeprefix("```python\n")
        assert one.headings[:-1] == path
        assert body.startswith(f"def {one.headings[-1]}(")
    assert [name for *_, name in chunks[-1].sections][-1] == ""


def test_the_rest_of_a_function_is_no_overlap_but_a_whole_one_is() -> None:
    text = f"```python\nclass Ledger:\n{methods(30)}```"

    chunks = chunk(document(text), tokenizer=CL100K, size=96, overlap=40)

    bodies = [one.text.removeprefix("```python\n") for one in chunks]
    assert all(body.startswith(("class", "def helper_")) for body in bodies)
    assert any(after.start < before.end for before, after in pairwise(chunks))


def test_code_in_a_page_of_prose_has_the_headings_of_the_page() -> None:
    text = f"# Use\n\nCall it so:\n\n```python\nclass Ledger:\n{methods(20)}```\n\nThat is all."

    chunks = chunk(document(text), tokenizer=CL100K, size=96, overlap=0)

    assert {one.headings for one in chunks} == {("Use",)}
