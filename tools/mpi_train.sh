#!/bin/bash
# mpi_train.sh HOSTS SLOTS COMMAND...: runs ganz train or ganz quantize by mpirun on the hosts of a file (a name a line) that
# answer, SLOTS processes on each; when one is lost, goes on with those that are left. The bytes of the run are the same.
#   RETRIES  how often at most (100);  ALIVE  how a host is asked (ssh -o ConnectTimeout=5 HOST true);  MPIRUN  (mpirun)
# COMMAND has --resume, and a folder --out that all hosts see. It ends by itself when the run does, or when the run fails in
# the same place twice, because then no machine is to blame.
set -u
. "$(dirname "$0")/../scripts/arguments.sh"
arguments 3 3 "${@:1:3}"
hosts=$1 slots=$2
shift 2
case " $* " in *" --resume "*) ;; *) echo "mpi_train.sh: the command needs --resume, to go on after a loss" >&2; exit 2 ;; esac
folder=
for ((i = 1; i < $#; i++)); do
  [ "${!i}" = --out ] || [ "${!i}" = -o ] || continue
  next=$((i + 1))
  folder=${!next}
done
[ -n "$folder" ] || { echo "mpi_train.sh: the command needs --out" >&2; exit 2; }
answers() { if [ -n "${ALIVE:-}" ]; then $ALIVE "$1"; else ssh -o BatchMode=yes -o ConnectTimeout=5 "$1" true; fi; } 2>/dev/null </dev/null
stamp() { stat -c '%i %y' "$folder/last.safetensors" 2>/dev/null; }
# A lost machine is noticed after about 11 seconds: without these three, after 8 minutes.
alive=(--mca oob_tcp_keepalive_time 5 --mca oob_tcp_keepalive_intvl 2 --mca oob_tcp_keepalive_probes 3)
before=none
for ((try = 0; try <= ${RETRIES:-100}; try++)); do
  list= count=0
  while read -r host _; do
    [ -n "$host" ] || continue
    if answers "$host"; then
      list=$list${list:+,}$host:$slots count=$((count + slots))
    else
      echo "mpi_train.sh: $host does not answer" >&2
    fi
  done <"$hosts"
  [ $count -gt 0 ] || { echo "mpi_train.sh: no host answers" >&2; exit 1; }
  ${MPIRUN:-mpirun} "${alive[@]}" --host "$list" -n $count "$@"
  status=$?
  [ $status -ne 0 ] || exit 0
  now=$(stamp)
  [ "$now" != "$before" ] || { echo "mpi_train.sh: no step was saved since the last loss; this run does not go on" >&2; exit $status; }
  before=$now
  echo "mpi_train.sh: the run ended with $status; it goes on with the hosts that answer" >&2
done
exit $status
