"""Scripts that `det completion SHELL` prints: how each shell asks `det __complete`."""

BASH = """\
# Completion of det for bash. To install it:
#   mkdir -p ~/.local/share/bash-completion/completions
#   det completion bash > ~/.local/share/bash-completion/completions/det
# or, in ~/.bashrc: eval "$(det completion bash)"
_det_complete() {
    local line
    COMPREPLY=()
    while IFS= read -r line; do
        if [[ $line == :files ]]; then
            compopt -o default 2>/dev/null
        else
            printf -v line %q "${line%%$'\\t'*}"  # readline inserts it as it is: a name may hold what bash would run
            COMPREPLY+=("$line")
        fi
    done < <("${COMP_WORDS[0]}" __complete "${COMP_WORDS[@]:1:COMP_CWORD}" </dev/null 2>/dev/null)
}
complete -F _det_complete det
"""

ZSH = """\
#compdef det
# Completion of det for zsh. To install it, with a directory of your $fpath:
#   det completion zsh > ~/.zfunc/_det    (and in ~/.zshrc: fpath+=~/.zfunc; autoload -Uz compinit; compinit)
# or, in ~/.zshrc after compinit: eval "$(det completion zsh)"
_det() {
    local line
    local -a described
    for line in "${(@f)$("${words[1]}" __complete "${(@)words[2,CURRENT]}" </dev/null 2>/dev/null)}"; do
        if [[ $line == :files ]]; then
            _files
        elif [[ -n $line ]]; then
            described+=("${${line%%$'\\t'*}//:/\\\\:}:${line#*$'\\t'}")
        fi
    done
    (( $#described )) && _describe -V det described
}
if [[ $zsh_eval_context[-1] == loadautofunc ]]; then _det "$@"; else compdef _det det; fi
"""

FISH = """\
# Completion of det for fish. To install it:
#   det completion fish > ~/.config/fish/completions/det.fish
function __det_complete
    set -l tokens (commandline -opc)
    set -l current (commandline -ct)
    set -l program $tokens[1]
    set -e tokens[1]
    for line in ($program __complete $tokens "$current" </dev/null 2>/dev/null)
        if test "$line" = :files
            __fish_complete_path "$current"
        else
            printf '%s\\n' $line
        end
    end
end
complete -c det -f -a '(__det_complete)'
"""

SCRIPTS = {"bash": BASH, "zsh": ZSH, "fish": FISH}
