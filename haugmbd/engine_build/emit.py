r"""Objects and libraries of an engine for every target, from LLVM text by llvmlite alone, linked by zig.

    exact    each entry optimised on its own, as Numba does, for this processor: every bit of a run is that of the compiler
    whole    all entries as one program: smaller, and faster on loops; sums may be rounded otherwise, to about 1e-12 of a state

Each text gets the layout and triple of its target.  Python's wrappers and Numba's run-time become traps, which optimisation removes where
they are not reached; addresses of the process that compiled become null (they are dead).  A table of routines is added, since a model
refers to routines by name, and a word in its record is the address that `haug_routine` returns in this library.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

from llvmlite import binding as llvm  # type: ignore[import-untyped]

from haugmbd.engine_build.collect import Collection, symbols_defined

HERE = Path(__file__).resolve().parents[1] / "engine"
LEAN_INLINING = 25
"""Of LLVM, in place of 225: a call costs less than its code in a page."""
WASM = "+bulk-memory,+nontrapping-fptoint,+sign-ext,+simd128"


class Parts(NamedTuple):
    """The part of an engine that steps blobs: names of routines and of entries, as regular expressions."""

    routines: str
    entries: str


STEPS = (
    r"(engine\.doors\.\w+|quantity_reader\.read_entry|explicit\.runge_kutta\.run_entry|explicit\.embedded\.run_entry"
    r"|stabilization\.\w+\.(rates|post_step)|engine\.stops\.\w+)$"
)
EXPLICIT = Parts(
    r"^(?!.*(\|dual|implicit|faults|\w*tangent)).*(\b(constraints|workspace|friction|model|stabilization|kkt\.solver)\b|(switch_events\.look|in_kernels\.\w+)$)",
    STEPS,
)
"""Every row, load and solver, for explicit methods of what a blob holds: no contacts but those of springs and dampers."""
BLOCKS = Parts(
    r"^(?!.*(\|dual|implicit|faults|\w*tangent|energy_projection|unweighted)).*"
    r"(\b(constraints|workspace|friction|model|stabilization)\b|kkt\.solver\.\w+_by_(wide_)?blocks$"
    r"|switch_events\.look$)",
    STEPS.replace(r"|explicit\.embedded\.run_entry", "").replace(
        r"stabilization\.\w+", r"stabilization\.(none|projection|baumgarte)"
    ),
)
"""Every row and load, and the solver by blocks alone, which pages take for every mechanism."""
SMALL = Parts(
    r"(equations\.(cd|d|dp1|dp2|rotation)\.|workspace\.body_kinematics|model\.(evaluate|generalized_forces\.apply$|drivers_alone)"
    r"|stabilization\.(none|projection|baumgarte)\.|_by_(blocks|wide_blocks)$)(?!.*\|dual)",
    r"(engine\.doors\.\w+|quantity_reader\.read_entry|explicit\.runge_kutta\.run_entry|stabilization\.(none|projection|baumgarte)\.rates)$",
)
"""Joints, springs, drivers and the solver by blocks: of a page that shows one mechanism."""
ROWS = SMALL._replace(routines=SMALL.routines.replace(r"equations\.(cd|d|dp1|dp2|rotation)\.", r"equations\.\w+\."))
"""The same with all rows: couplings, cams, rolling, ropes, curves."""


class Target(NamedTuple):
    """A target: triple, processor and features of LLVM; the target of zig; the ending of a library.

    exact: whether each entry is optimised on its own;  parts: what it contains, None for everything;  lean: whether it is to be small
    """

    triple: str
    cpu: str
    features: str
    zig: str
    ending: str
    exact: bool = False
    parts: Parts | None = None
    lean: bool = False


def targets() -> dict[str, Target]:
    """Return the targets by name."""
    host = ("x86_64-unknown-linux-gnu", llvm.get_host_cpu_name(), llvm.get_host_cpu_features().flatten())
    native = {
        "exact": Target(*host, "x86_64-linux-gnu.2.17", "so", exact=True),
        "linux_x86_64": Target("x86_64-unknown-linux-gnu", "x86-64", "", "x86_64-linux-gnu.2.17", "so"),
        "linux_x86_64_v3": Target("x86_64-unknown-linux-gnu", "x86-64-v3", "", "x86_64-linux-gnu.2.17", "so"),
        "wasm32": Target("wasm32-unknown-unknown", "", WASM, "wasm32-wasi", "wasm", parts=EXPLICIT, lean=True),
        "wasm32_blocks": Target("wasm32-unknown-unknown", "", WASM, "wasm32-wasi", "wasm", parts=BLOCKS, lean=True),
        "wasm32_small": Target("wasm32-unknown-unknown", "", WASM, "wasm32-wasi", "wasm", parts=SMALL, lean=True),
        "wasm32_rows": Target("wasm32-unknown-unknown", "", WASM, "wasm32-wasi", "wasm", parts=ROWS, lean=True),
        "linux_aarch64": Target("aarch64-unknown-linux-gnu", "generic", "", "aarch64-linux-gnu.2.17", "so"),
        "windows_x86_64": Target("x86_64-w64-windows-gnu", "x86-64", "", "x86_64-windows-gnu", "dll"),
        "macos_arm64": Target("aarch64-apple-darwin", "apple-m1", "", "aarch64-macos", "dylib"),
        "macos_x86_64": Target("x86_64-apple-darwin", "x86-64", "", "x86_64-macos", "dylib"),
    }
    fmu = {
        f"fmu_{name}": each._replace(parts=EXPLICIT)
        for name, each in native.items()
        if name.startswith(PORTABLE) and not name.endswith("_v3")
    }
    return native | fmu


PORTABLE = ("linux", "windows", "macos")
"""Beginnings of the targets that an FMU has a binary for, of explicit methods only: a third of the size."""


LIBM = (
    "sqrt sin cos tan asin acos atan atan2 exp log pow fmod sinh cosh tanh hypot fabs floor ceil log10 exp2 cbrt expm1 log1p log2 "
    "asinh acosh atanh copysign round trunc fmin fmax"
)
SUPPORT = {"haugmbd_dgemm", "NRT_MemInfo_alloc_aligned", "NRT_incref", "NRT_decref"}
"""What `support.c` defines: a matrix product, and scratch arrays of kernels that still make some."""
OUTSIDE = {*LIBM.split(), "memcpy", "memset", "memmove", *SUPPORT}
"""All that may stay undefined in an object: functions of C's mathematical library, of its memory, and of `support.c`."""

TABLES = ("haug_routine", "haug_entry")
"""Functions of the tables: the address of a routine, and of a word door, by number."""
ABI = tuple(re.findall(r"\b(haug_\w+)\(", (HERE / "haugmbd.h").read_text().partition("#define HAUGMBD_H")[2]))
"""The functions of `haugmbd.h`."""


class Emitted(NamedTuple):
    """An object, the names that it leaves undefined, and the number of traps in it."""

    code: bytes
    undefined: list[str]
    traps: int


LONGEST_NAME = 65536
"""Letters of a name within a function: Numba's names of arguments of many arrays, in those of inlined blocks, pass LLVM's bound of 1024."""


def initialize() -> None:
    """Make all of LLVM's targets known, and let it read long names."""
    llvm.set_option("haugmbd", f"-non-global-value-max-name-size={LONGEST_NAME}")
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()


COUNTS = re.compile(r"^define [^\n]*void @(NRT_incref|NRT_decref)\([^\n]*\{\n.*?^\}\n", re.MULTILINE | re.DOTALL)
"""Numba's counting of references, with instructions of one processor: `support.c` has it for all."""


def neutral(text: str) -> str:
    """Return LLVM text without its layout, triple, common symbols (WebAssembly has none) and addresses of the process that compiled it."""
    text = re.sub(r"^target (datalayout|triple).*\n", "", text, flags=re.MULTILINE)
    text = COUNTS.sub(r"declare void @\1(ptr)\n", text)
    text = re.sub(r"= common (local_unnamed_addr |unnamed_addr )?global", "= internal global", text)
    return re.sub(
        r"^(@[^\n]*numba\.dynamic\.globals[^\n]*= linkonce global ptr) inttoptr \(i64 \d+ to ptr\)",
        r"\1 null",
        text,
        flags=re.MULTILINE,
    )


def trap(declaration: re.Match[str]) -> str:
    """Return a declaration of Python's or Numba's run-time as a function that traps; those of `OUTSIDE` stay."""
    line = declaration.group(0)
    name = re.search(r'@"?([\w.$]+)"?\(', line).group(1)  # type: ignore[union-attr]
    if name.startswith("llvm.") or name in OUTSIDE:
        return line
    words = r"\b(noalias|noundef|nonnull|signext|zeroext|local_unnamed_addr|dso_local)\b"
    result = re.sub(words, "", re.search(r"^declare (.*?)@", line).group(1)).strip()  # type: ignore[union-attr]
    given = re.search(r'@"?[\w.$]+"?\((.*?)\)( |$)', line).group(1)  # type: ignore[union-attr]
    arguments = ",".join(each.strip().split(" ")[0] for each in given.split(",") if each.strip())
    return f"define internal {result} @{name}({arguments}) alwaysinline {{\n call void @llvm.trap()\n unreachable\n}}"


def optimise(module: Any, machine: Any, slp: bool, lean: bool = False) -> None:
    """Optimise a module in place at level 3, or for a small size."""
    options = llvm.create_pipeline_tuning_options(speed_level=2 if lean else 3)
    options.loop_vectorization, options.slp_vectorization = not lean, slp and not lean
    if lean:
        options.loop_unrolling, options.inlining_threshold = False, LEAN_INLINING
    builder = llvm.create_pass_builder(machine, options)
    builder.getModulePassManager().run(module, builder)


def lookup(name: str, symbols: list[str]) -> str:
    """Return the LLVM text of a table of functions, and of the function that returns an address of it by number, 0 outside."""
    n, table = len(symbols), ", ".join(f'ptr @"{symbol}"' for symbol in symbols)
    return f"""
@{name}_table = internal constant [{n} x ptr] [{table}]
define i64 @{name}(i64 %id) {{
 %inside = icmp ult i64 %id, {n}
 br i1 %inside, label %yes, label %no
yes:
 %p = getelementptr [{n} x ptr], ptr @{name}_table, i64 0, i64 %id
 %f = load ptr, ptr %p
 %i = ptrtoint ptr %f to i64
 ret i64 %i
no:
 ret i64 0
}}
"""


def selected(collection: Collection, parts: Parts | None) -> Collection:
    """Return the part of a collection that a target contains."""
    if parts is None:
        return collection
    routines = [(n, x) for n, x in zip(collection.routine_names, collection.routines, strict=True) if re.search(parts.routines, n)]
    entries = [entry for entry in collection.entries if re.search(parts.entries, entry.name)]
    wanted = {*(symbol for _, symbol in routines), *(entry.door for entry in entries)}
    texts = [text for text in collection.texts if symbols_defined(text) & wanted]
    return Collection(texts, entries, [n for n, _ in routines], [x for _, x in routines])


def linked(collection: Collection, target: Target, machine: Any) -> Any:
    """Return one module of all texts; with `exact`, each is optimised before."""
    head = f'target datalayout = "{machine.target_data}"\ntarget triple = "{target.triple}"\n'
    whole = None
    for text in collection.texts:
        module = llvm.parse_assembly(head + neutral(text))
        for function in module.functions:
            if function.name.startswith("_ZN7cpython"):
                function.linkage = "external" if target.exact else "linkonce_odr"
        if target.exact:
            optimise(module, machine, slp=False)
            for function in module.functions:
                if not function.is_declaration:
                    function.linkage = "external" if symbols_defined(f'define void @"{function.name}"(') else "internal"
        whole = module if whole is None else _joined(whole, module)
    return whole


def _joined(whole: Any, module: Any) -> Any:
    """Return `whole` with another module in it."""
    whole.link_in(module)
    return whole


def emit(collection: Collection, target: Target) -> Emitted:
    """Return the object of an engine for a target.  Raise RuntimeError if it needs what no library gives."""
    machine = llvm.Target.from_triple(target.triple).create_target_machine(
        cpu=target.cpu, features=target.features, opt=3, reloc="pic", codemodel="default"
    )
    text = str(linked(collection, target, machine))
    text = re.sub(r"^declare [^\n]*$", trap, text, flags=re.MULTILINE)
    text = re.sub(r"^(@\w+) = external global i8", r"\1 = internal global i8 0", text, flags=re.MULTILINE)
    text += "" if "declare void @llvm.trap()" in text else "\ndeclare void @llvm.trap()\n"
    text += lookup("haug_routine", collection.routines) + lookup("haug_entry", [each.door for each in collection.entries])
    module = llvm.parse_assembly(text)
    for function in module.functions:
        if not function.is_declaration:
            function.linkage = "external" if function.name in TABLES else "internal"
    for variable in module.global_variables:
        if not variable.is_declaration and not variable.name.startswith("llvm."):
            variable.linkage = "internal"
    module.verify()
    if not target.exact:
        optimise(module, machine, slp=True, lean=target.lean)
    undefined = sorted(x.name for x in module.functions if x.is_declaration and not x.name.startswith("llvm."))
    if not set(undefined) <= OUTSIDE:
        raise RuntimeError(f"the engine needs {', '.join(sorted(set(undefined) - OUTSIDE))}, which no library gives.")
    return Emitted(machine.emit_object(module), undefined, str(module).count("call void @llvm.trap"))


def zig_command() -> list[str]:
    """Return the command of zig: HAUGMBD_ZIG, that of this Python, or that of the system.  Raise RuntimeError if there is none."""
    if os.environ.get("HAUGMBD_ZIG"):
        return os.environ["HAUGMBD_ZIG"].split()
    if subprocess.run([sys.executable, "-c", "import ziglang"], capture_output=True, check=False).returncode == 0:
        return [sys.executable, "-m", "ziglang"]
    if shutil.which("zig"):
        return ["zig"]
    raise RuntimeError("zig links the engine and is not there: pip install 'haugmbd[engine]'.")


def compile_c(folder: Path, *words: object) -> None:
    """Run zig's C compiler.  Raise RuntimeError with what it says if it fails."""
    caches = {name: str(folder / "zig") for name in ("ZIG_GLOBAL_CACHE_DIR", "ZIG_LOCAL_CACHE_DIR")}
    done = subprocess.run(
        [*zig_command(), "cc", *map(str, words)], capture_output=True, text=True, env=os.environ | caches, check=False
    )
    if done.returncode:
        raise RuntimeError(f"zig: {done.stderr[-2000:]}")


def names_header(collection: Collection) -> str:
    """Return the C text of the names of routines and entries, in the order of their numbers."""
    routines, entries = collection.routine_names, [each.key for each in collection.entries]
    return (
        f"enum {{ N_ROUTINES = {len(routines)}, N_ENTRIES = {len(entries)} }};\n"
        f"static const char *const ROUTINE_NAMES[] = {{{', '.join(map(json.dumps, routines))}}};\n"
        f"static const char *const ENTRY_NAMES[] = {{{', '.join(map(json.dumps, entries))}}};\n"
    )


def link(folder: Path, name: str, target: Target, stamp: str) -> Path:
    """Return the library of the object `folder/name.o`, linked with the C part of the engine."""
    library = folder / f"{name}.{target.ending}"
    library.unlink(missing_ok=True)
    if target.ending == "wasm":
        flags = ["-mexec-model=reactor", "-nostartfiles", "-Wl,--no-entry", "-Wl,--export-memory", "-Wl,--export-table"]
        flags += [f"-Wl,--export={each}" for each in ABI]
    else:
        flags = ["-shared", "-fvisibility=hidden", *([] if target.ending == "dll" else ["-fPIC", "-lm"])]
    glue = () if target.ending == "wasm" else (HERE / "fmu.c",)
    sources = (folder / f"{name}.o", HERE / "abi.c", HERE / "support.c", *glue)
    more = ("-O2", "-s", "-ffp-contract=off", f'-DHAUG_STAMP="{stamp}"', f"-I{HERE}", f"-I{folder}")
    words = ("-target", target.zig, *more, "-o", library, *sources, *flags)
    compile_c(folder, *words)
    return library
