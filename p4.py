import sys; sys.path.insert(0,"/tmp/corr")
from attack2 import *
M,out,_=run(61116); print(out)
s=M.s; a0=mbd.assemble(s); R=mbd.simulate(s,.3,rtol=1e-8,atol=1e-10); e=R.energy(); print(e.kinetic,e.potential,e.drift,len(R.t), s.gravity, s.bodies[1])
R=mbd.simulate(s,.3,h=1e-2); e=R.energy(); print(e.drift, R.r[[0,-1]])
for sd in (61187,61029):
    M,out,_=run(sd); print(M.kinds,[ (l, getattr(l,'name','')) for l in M.s.loads], [ (b.mass,b.J_bar) for b in M.s.bodies]); print(out)
