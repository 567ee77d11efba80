# mq-take --ack of the head of a group: acked at once, but put back where its body could
# not be printed. Variants: ended into tmp/ and joined again; marked in cur/ and returned
# by one rename, the mark saying that it ends where its lease does; the same without a
# look whether the one who prints it lives.
import m2
from m2 import *
def giveback(how,c,x):
    if how=='mark':
        r=yield('ren',x,('new',)+c[1:3])
        return r
    yield from lockrec(0)
    g=yield('stat',('D','grp'))
    if g: r=yield('ren',x,('grp',)+c[1:3])
    else:
        h=('hold','first',c[1:3])
        r=yield('ren',x,h)
        if r=='ok': yield('mkdir','grp'); yield('ren',h,('new',)+c[1:3])
    yield('unlock','q')
    return r
def CA(rounds,how,me):    # the file's lock is a shared one: one for each
    k=0
    while k<rounds:
        k+=1
        s=yield('ls','new')
        if not s: continue
        x=s[0]; s=None
        c=('cur',x[1],x[2]+1); a=None
        r=yield('ren',x,c)
        if r!='ok': continue
        x=None
        yield('lock',('f',c[1],me))
        if how=='tmp':
            yield from lockrec(0)
            r=yield from headgone(c,'tmp',0,frozenset())
            yield('unlock','q')
            x=('tmp',)+c[1:]
        else:
            x=('cur',c[1],c[2],'r')
            r=yield('ren',c,x)
        if r=='ok':
            a=yield('choose',('printed','fails','stall'))
            if a=='printed':
                yield('ghost',frozenset([('out',c[1],k,c[2])]))
                if how=='tmp': yield('unl',x,frozenset([('ack',c[1])]))
                else:
                    yield from lockrec(0)
                    r=yield from headgone(x,'gone',0,frozenset([('ack',c[1])]))
                    yield('unlock','q')
            elif a=='fails':
                r=yield from giveback(how,c,x)
                if r!='ok': yield('viol','dropped, though it was not printed')
        if a!='stall': yield('unlock',('f',c[1],me))
        a=c=r=x=None
# What mq-take does with a lease that ran out: any may, at any time.
def EXP(rounds,looks):
    k=0
    while k<rounds:
        k+=1
        s=yield('ls','cur')
        if not s: continue
        x=yield('choose',s); s=None
        if len(x)<4: yield('ren',x,('new',)+x[1:])
        else:
            t='ok'
            if looks:
                t=yield('try',('f',x[1],1))
                u=yield('try',('f',x[1],2))
                if u!='ok': t=u
                u=None
            if t=='ok':
                yield from lockrec(0)
                yield from headgone(x,'gone',0,frozenset([('ack',x[1])]))
                yield('unlock','q')
            if looks: yield('unlock',('f',x[1],1)); yield('unlock',('f',x[1],2))
            t=None
        x=None
def inv2(fs,gh):
    r=m2.inv(fs,gh)
    if r and not r.startswith('lost'): return r     # one in tmp is nowhere else
    out=[x for x in gh if x[0]=='out']
    for x in out:
        if any(y[0] in('new','grp') and y[1]==x[1] for y in fs): return 'printed and ready: %s'%(x,)
        if sum(1 for y in out if y[1]==x[1])>1: return 'printed twice: %s'%(x,)
    return None
def go2(name,ms,procs,cr,**k):
    fs=frozenset([('seq',0)]+[('tmp',m) for m in ms])
    return run(procs+[(FIN,0,True)],fs,cr,inv=inv2,mdirs=MD,name=name,**k)
if __name__=='__main__':
    go2('2k --ack ends the head into tmp','ab',[(PUT,'a',0),(PUT,'b',0),(CA,1,'tmp',1),(C,1,0,('ack',)),(EXP,1,True)],1,limit=2e6)
    go2('2k --ack marks the head in cur','ab',[(PUT,'a',0),(PUT,'b',0),(CA,2,'mark',1),(C,1,0,('ack','retry')),(EXP,1,True)],1,limit=2e6)
    go2('2k the same, two of them, crash2','ab',[(PUT,'a',0),(PUT,'b',0),(CA,1,'mark',1),(CA,1,'mark',2),(EXP,2,True)],2,limit=2e6)
    go2('2k marked, no look whether it lives','ab',[(PUT,'a',0),(PUT,'b',0),(CA,1,'mark',1),(EXP,1,False)],1,limit=2e6)
